// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/safetensors_checksums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace neap::formats {
namespace {

tl::unexpected<Failure> refused(std::string_view file, std::string_view fact) {
  return failure(FailureKind::kCorrupt,
                 fmt::format("{}: {}: the file was damaged or changed after it "
                             "was written; use another copy, or read it "
                             "without verification (--verify off)",
                             file, fact));
}

// The value of a key, which is taken out; empty: there is none.
memory::String take(Metadata& metadata, std::string_view key) {
  memory::String out{memory::Allocator<char>(memory::Category::kData)};
  const auto found = std::ranges::find(metadata, key, &MetadataItem::key);
  if (found != metadata.end()) {
    out = std::move(found->value);
    metadata.erase(found);
  }
  return out;
}

std::uint64_t digest_of(std::string_view text, std::size_t digits_at) noexcept {
  Digest digest;
  digest.update(text.substr(0, digits_at));
  digest.update({kBlankDigest.data(), kBlankDigest.size()});
  digest.update(text.substr(digits_at + kDigestDigits));
  const auto length = std::bit_cast<std::array<std::byte, kLengthBytes>>(
      std::uint64_t{text.size()});
  digest.update(length);
  return digest.value();
}

}  // namespace

Result<memory::String> take_checksums(SafetensorsHeader& header,
                                      std::string_view text,
                                      std::string_view file, Verify verify) {
  const bool has_header =
      find_key(header.metadata, kHeaderDigestKey) != nullptr;
  const bool has_tensors =
      find_key(header.metadata, kTensorDigestsKey) != nullptr;
  const memory::String digits = take(header.metadata, kHeaderDigestKey);
  memory::String tensors = take(header.metadata, kTensorDigestsKey);
  if (verify == Verify::kOff) {
    tensors.clear();
    return tensors;
  }
  if (has_header != has_tensors) {
    return refused(file, "its metadata have one of two checksums");
  }
  if (!has_header) {
    return tensors;
  }
  // Escaped digits would stand elsewhere than the parser saw them end.
  const std::size_t at = header.header_digest_end - kDigestDigits;
  if (digits.size() != kDigestDigits ||
      header.header_digest_end < kDigestDigits ||
      text.substr(at, kDigestDigits) != std::string_view(digits)) {
    return refused(file, "the checksum of its header has no 16 digits");
  }
  const DigestText found = digest_text(digest_of(text, at));
  if (!std::ranges::equal(found, digits)) {
    return refused(
        file, fmt::format("its header has the checksum {}, not {} as it says",
                          std::string_view(found.data(), found.size()),
                          quoted(digits)));
  }
  if (tensors.size() != kDigestDigits * header.entries.size()) {
    return refused(file,
                   fmt::format("it has {} digits of checksums for {} tensors",
                               tensors.size(), header.entries.size()));
  }
  return tensors;
}

}  // namespace neap::formats
