// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/text_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "neap/data/utf8.hpp"

namespace neap::data {
namespace {

constexpr std::size_t kBufferBytes = 64 * kKiB;
constexpr std::size_t kWordBits = 64;

// How much of `text` was walked, or that each() asked to stop.
struct Walked {
  std::size_t bytes = 0;
  bool is_over = false;
  bool is_good = true;  // false: no UTF-8 from `bytes` on
};

Walked walk_part(std::string_view text, Symbols symbols,
                 base::FunctionRef<bool(char32_t)> each) {
  Walked walked;
  while (walked.bytes < text.size() && !walked.is_over) {
    const std::string_view rest = text.substr(walked.bytes);
    const auto head = static_cast<unsigned char>(rest.front());
    const Decoded decoded =
        symbols == Symbols::kBytes ? Decoded{head, 1} : decode_utf8(rest);
    if (decoded.length <= 0) {
      walked.is_good = decoded.length == 0;
      return walked;
    }
    walked.is_over = !each(decoded.code_point);
    walked.bytes += static_cast<std::size_t>(decoded.length);
  }
  return walked;
}

tl::unexpected<Failure> not_utf8(std::string_view name, std::int64_t at) {
  return failure(FailureKind::kCorrupt,
                 fmt::format("{}: not UTF-8 at byte {}; convert it, or take "
                             "bytes for symbols",
                             name, at));
}

}  // namespace

Result<Bytes> TextSource::read(std::span<std::byte> into) {
  const std::size_t count = std::min(into.size(), text_.size());
  std::copy_n(text_.data(), count, reinterpret_cast<char*>(into.data()));
  text_.remove_prefix(count);
  return static_cast<Bytes>(count);
}

Result<void> walk_symbols(files::ByteSource& source, Symbols symbols,
                          base::FunctionRef<bool(char32_t)> each) {
  memory::Vector<char> buffer(kBufferBytes, '\0',
                              memory::Allocator<char>(memory::Category::kData));
  std::size_t kept = 0;     // bytes of a character cut at the buffer's end
  std::int64_t before = 0;  // bytes of the source in front of the buffer
  while (true) {
    const auto read = files::read_full(
        source, std::as_writable_bytes(std::span(buffer).subspan(kept)));
    if (!read) {
      return tl::unexpected(read.error());
    }
    const std::size_t size = kept + static_cast<std::size_t>(*read);
    const std::string_view text(buffer.data(), size);
    const Walked walked = walk_part(text, symbols, each);
    const bool is_last = size < buffer.size();
    if (!walked.is_good ||
        (is_last && !walked.is_over && walked.bytes < size)) {
      return not_utf8(source.name(),
                      before + static_cast<std::int64_t>(walked.bytes));
    }
    if (is_last || walked.is_over) {
      return {};
    }
    kept = size - walked.bytes;
    std::memmove(buffer.data(), buffer.data() + walked.bytes, kept);
    before += static_cast<std::int64_t>(walked.bytes);
  }
}

CharacterSet::CharacterSet()
    : bits_(kLastCodePoint / kWordBits + 1, 0,
            memory::Allocator<std::uint64_t>(memory::Category::kData)) {}

void CharacterSet::add(char32_t code_point) noexcept {
  bits_[code_point / kWordBits] |= std::uint64_t{1} << code_point % kWordBits;
}

Result<Vocabulary> CharacterSet::vocabulary(
    std::string_view source_name) const {
  std::int64_t count = 0;
  for (const std::uint64_t word : bits_) {
    count += std::popcount(word);
  }
  if (count > Vocabulary::kMost) {
    return failure(FailureKind::kUnsupported,
                   fmt::format("{}: {} different characters, at most {} are "
                               "taken; take bytes for symbols",
                               source_name, count, Vocabulary::kMost));
  }
  memory::Vector<char32_t> sorted{
      memory::Allocator<char32_t>(memory::Category::kData)};
  sorted.reserve(static_cast<std::size_t>(count));
  for (std::size_t at = 0; at < bits_.size(); ++at) {
    for (std::uint64_t left = bits_[at]; left != 0; left &= left - 1) {
      sorted.push_back(static_cast<char32_t>(
          at * kWordBits + static_cast<unsigned>(std::countr_zero(left))));
    }
  }
  return Vocabulary::of_sorted(std::move(sorted));
}

}  // namespace neap::data
