// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/sink.hpp"

#include <algorithm>
#include <span>

#include "neap/base/utf8.hpp"
#include "neap/report/wording.hpp"

namespace neap::report {

void Sink::put(std::string_view text) {
  size_ += static_cast<Bytes>(text.size());
  while (to_ != nullptr && !text.empty() && status_) {
    const std::size_t part = std::min(text.size(), kCapacity - buffer_.size());
    buffer_.append(text.substr(0, part));
    text.remove_prefix(part);
    if (buffer_.size() == kCapacity) {
      flush();
    }
  }
}

namespace {

// The first piece of a text: of a few KiB, and not ended within a character.
std::string_view piece_of(std::string_view text) noexcept {
  constexpr std::size_t kMost = 4096;
  if (text.size() <= kMost) {
    return text;
  }
  std::size_t end = kMost;
  while (end > kMost - 3 && base::is_utf8_tail(text[end])) {
    --end;
  }
  return text.substr(0, end);
}

}  // namespace

void Sink::put_json(std::string_view text) {
  put('"');
  while (!text.empty()) {
    const std::string_view piece = piece_of(text);
    text.remove_prefix(piece.size());
    scratch_.clear();
    append_json(scratch_, piece);
    put(std::string_view(scratch_).substr(1, scratch_.size() - 2));
  }
  put('"');
}

void Sink::put_xml(std::string_view text) {
  while (!text.empty()) {
    const std::string_view piece = piece_of(text);
    text.remove_prefix(piece.size());
    scratch_.clear();
    append_xml(scratch_, piece);
    put(scratch_);
  }
}

Result<void> Sink::finish() {
  if (to_ != nullptr && status_) {
    flush();
  }
  return status_;
}

void Sink::flush() {
  status_ = to_->write(std::as_bytes(std::span(buffer_)));
  buffer_.clear();
}

}  // namespace neap::report
