// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/decoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "neap/base/shown.hpp"

namespace neap::data::images {

struct alignas(DecoderHeap::kAlignment) DecoderHeap::Head {
  Head* next;
  Head* previous;
  Bytes bytes;  // of the block, this head included
};

DecoderHeap::DecoderHeap(Bytes limit)
    : domain_(&memory::domain()),
      tag_(memory::current_tag(memory::Category::kData)),
      limit_(limit) {}

DecoderHeap::~DecoderHeap() {
  clear();
}

void DecoderHeap::clear() noexcept {
  while (first_ != nullptr) {
    release(first_);
  }
}

void* DecoderHeap::take(std::size_t bytes) noexcept {
  constexpr auto kHead = static_cast<Bytes>(sizeof(Head));
  const Bytes left = limit_ - taken_;
  if (left < kHead || bytes > static_cast<std::size_t>(left - kHead)) {
    return nullptr;
  }
  const Bytes whole = static_cast<Bytes>(bytes) + kHead;
  void* block = nullptr;
  try {
    block = domain_->allocate_raw(whole, tag_, kAlignment);
  } catch (...) {
    refusal_ = std::current_exception();
    return nullptr;
  }
  Head* head = ::new (block) Head{first_, nullptr, whole};
  if (first_ != nullptr) {
    first_->previous = head;
  }
  first_ = head;
  taken_ += whole;
  return head + 1;
}

void DecoderHeap::give_back(void* block) noexcept {
  if (block != nullptr) {
    release(static_cast<Head*>(block) - 1);
  }
}

void DecoderHeap::release(Head* head) noexcept {
  (head->previous != nullptr ? head->previous->next : first_) = head->next;
  if (head->next != nullptr) {
    head->next->previous = head->previous;
  }
  taken_ -= head->bytes;
  domain_->release_raw(head, head->bytes, tag_, kAlignment);
}

Decoding::Decoding(files::ByteSource& source)
    : source_(source),
      heap_(kBeforeHeader),
      buffer_(kPieceBytes, std::byte{0},
              memory::Allocator<std::byte>(memory::Category::kData)) {}

void* Decoding::take(std::size_t bytes) noexcept {
  void* block = heap_.take(bytes);
  if (block == nullptr) {
    fail(FailureKind::kTooLarge,
         "it needs more memory than an image of its size should");
  }
  return block;
}

// Its objects are destroyed before anybody jumps.
void Decoding::read_piece() noexcept {
  piece_ = {};
  try {
    auto count = files::read_full(source_, buffer_);
    if (count) {
      piece_ = std::span(buffer_).first(static_cast<std::size_t>(*count));
    } else {
      of_file_ = std::move(count.error());
    }
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

bool Decoding::refill() noexcept {
  read_piece();
  if (of_file_ || thrown_) {
    fail(FailureKind::kIo, "");
  }
  return !piece_.empty();
}

void Decoding::fail(FailureKind kind, const char* text) noexcept {
  kind_ = kind;
  const std::size_t length = std::min(std::strlen(text), kTextBytes - 1);
  std::memcpy(text_.data(), text, length);
  text_[length] = '\0';
  std::longjmp(jump_, 1);  // NOLINT: see the header
}

void Decoding::fail_truncated() noexcept {
  fail(FailureKind::kTruncated, "it ends early");
}

tl::unexpected<Failure> Decoding::failure() const {
  for (const std::exception_ptr& thrown : {thrown_, heap_.refusal()}) {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
  }
  if (of_file_) {
    return tl::unexpected(*of_file_);
  }
  return neap::failure(
      kind_,
      fmt::format("{}: the image is not read: {}; replace the file or "
                  "take it out",
                  source_.name(), base::shown(text_.data(), kTextBytes)));
}

}  // namespace neap::data::images
