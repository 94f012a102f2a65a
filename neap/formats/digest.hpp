// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Digest: XXH3 (64 bits, seed 0) of bytes that come in pieces, as the files of
// formats/ carry it. It is a plain member of its owner and allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "neap/base/api.hpp"

namespace neap::formats {

class NEAP_API Digest {
 public:
  /// The digest of no bytes.
  Digest() noexcept { reset(); }
  void reset() noexcept;
  void update(std::span<const std::byte> bytes) noexcept;
  void update(std::string_view text) noexcept;
  /// The digest of all bytes since the last reset; more may follow.
  std::uint64_t value() const noexcept;

 private:
  // The state of the xxHash library, whose header stays in digest.cpp.
  static constexpr std::size_t kStateBytes = 576;
  static constexpr std::size_t kStateAlignment = 64;
  alignas(kStateAlignment) std::array<std::byte, kStateBytes> state_;
};

/// A digest as files have it: 16 hexadecimal digits, lower case.
inline constexpr std::size_t kDigestDigits = 16;
using DigestText = std::array<char, kDigestDigits>;
NEAP_API DigestText digest_text(std::uint64_t digest) noexcept;

}  // namespace neap::formats
