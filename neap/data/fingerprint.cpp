// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/fingerprint.hpp"

#include <xxhash.h>

namespace neap::data {

std::uint64_t fingerprint(std::span<const std::byte> bytes,
                          std::uint64_t before) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before);
}

std::uint64_t fingerprint(std::initializer_list<std::int64_t> numbers,
                          std::uint64_t before) noexcept {
  return fingerprint(std::as_bytes(std::span(numbers.begin(), numbers.size())),
                     before);
}

}  // namespace neap::data
