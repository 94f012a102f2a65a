// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/arena.hpp"

#include <utility>

#include "neap/base/raise.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/memory/owner_book.hpp"

// NOLINTBEGIN(readability-identifier-naming): AddressSanitizer's
extern "C" void __asan_poison_memory_region(const volatile void* from,
                                            std::size_t size) noexcept;
extern "C" void __asan_unpoison_memory_region(const volatile void* from,
                                              std::size_t size) noexcept;
// NOLINTEND(readability-identifier-naming)

namespace neap::memory {
namespace {

// Bytes that the arena has not given out are out of bounds to AddressSanitizer.
void close_range(const Block& block, Bytes from) noexcept {
  if constexpr (base::kAddressSanitizer) {
    __asan_poison_memory_region(static_cast<std::byte*>(block.data) + from,
                                static_cast<std::size_t>(block.size - from));
  }
}

void open_range(std::byte* from, Bytes size) noexcept {
  if constexpr (base::kAddressSanitizer) {
    __asan_unpoison_memory_region(from, static_cast<std::size_t>(size));
  }
}

}  // namespace

Arena::Arena(Bytes capacity, const Tag& tag, Domain& domain)
    : domain_(&domain), block_(domain.allocate(capacity, tag)) {
  close_range(block_, 0);
}

Arena::~Arena() {
  open_range(static_cast<std::byte*>(block_.data), block_.size);
  domain_->release(block_);
}

Arena::Arena(Arena&& other) noexcept
    : domain_(other.domain_),
      block_(std::exchange(other.block_, Block{})),
      used_(std::exchange(other.used_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  Arena taken(std::move(other));
  std::swap(domain_, taken.domain_);
  std::swap(block_, taken.block_);
  std::swap(used_, taken.used_);
  return *this;
}

std::byte* Arena::at(Bytes offset, Bytes size) const {
  if (offset < 0 || size < 0 || offset > block_.size - size) {
    base::raise<ValueError>(
        "arena: bytes [{}, {} + {}) lie outside its {} bytes", offset, offset,
        size, block_.size);
  }
  std::byte* bytes = static_cast<std::byte*>(block_.data) + offset;
  open_range(bytes, size);
  return bytes;
}

std::byte* Arena::take(Bytes size, Bytes alignment) {
  const auto base = reinterpret_cast<std::uintptr_t>(block_.data);
  const auto unit = static_cast<std::uintptr_t>(alignment);
  const std::uintptr_t next = base + static_cast<std::uintptr_t>(used_);
  const auto skip =
      static_cast<Bytes>((unit - (next & (unit - 1))) & (unit - 1));
  const Bytes left = block_.size - used_;
  if (size < 0 || skip > left || size > left - skip) {
    OutOfMemory::Details details;
    details.reason = OutOfMemory::Reason::kArena;
    details.tag = domain_->tag_of(block_.bucket);
    copy_path(domain_->path_of(details.tag.owner), details.owner);
    details.requested = size;
    details.live = used_;
    details.held = block_.size;
    throw OutOfMemory(details);
  }
  std::byte* bytes = static_cast<std::byte*>(block_.data) + used_ + skip;
  used_ += skip + size;
  open_range(bytes, size);
  return bytes;
}

void Arena::rewind(Bytes position) noexcept {
  if (position >= 0 && position < used_) {
    used_ = position;
    close_range(block_, position);
  }
}

}  // namespace neap::memory
