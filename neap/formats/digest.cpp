// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/digest.hpp"

#define XXH_STATIC_LINKING_ONLY  // the state's size, and no heap call
#include <xxhash.h>

namespace neap::formats {
namespace {

XXH3_state_t* state_in(void* bytes) noexcept {
  return static_cast<XXH3_state_t*>(bytes);
}
const XXH3_state_t* state_in(const void* bytes) noexcept {
  return static_cast<const XXH3_state_t*>(bytes);
}

}  // namespace

void Digest::reset() noexcept {
  static_assert(sizeof(XXH3_state_t) <= kStateBytes);
  static_assert(alignof(XXH3_state_t) <= kStateAlignment);
  state_.fill(std::byte{0});
  XXH3_64bits_reset(state_in(state_.data()));
}

void Digest::update(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(state_in(state_.data()), bytes.data(), bytes.size());
}

void Digest::update(std::string_view text) noexcept {
  update(std::as_bytes(std::span(text)));
}

std::uint64_t Digest::value() const noexcept {
  return XXH3_64bits_digest(state_in(state_.data()));
}

DigestText digest_text(std::uint64_t digest) noexcept {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::uint64_t kLowest = 0xF;
  constexpr unsigned kBitsOfADigit = 4;
  DigestText text{};
  for (std::size_t i = text.size(); i > 0; --i) {
    text[i - 1] = kHex[digest & kLowest];
    digest >>= kBitsOfADigit;
  }
  return text;
}

}  // namespace neap::formats
