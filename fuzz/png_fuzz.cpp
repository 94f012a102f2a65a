// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Each chunk's checksum is put right first: no change would get behind it.
#include <zlib.h>

#include "image_check.hpp"

namespace neap::fuzz {
namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kWord = 4;

std::size_t word_at(const std::string& bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < kWord; ++i) {
    value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

std::string with_sums(std::string bytes) {
  // A chunk: its length, its kind, that many bytes, and the sum of the latter.
  for (std::size_t at = kSignature; at + 3 * kWord <= bytes.size();) {
    const std::size_t length = word_at(bytes, at);
    if (length > bytes.size() - at - 3 * kWord) {
      break;
    }
    const std::size_t summed = kWord + length;
    auto sum =
        ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()) + at + kWord,
                static_cast<uInt>(summed));
    for (std::size_t i = kWord; i > 0; --i, sum >>= 8U) {
      bytes[at + kWord + summed + i - 1] = static_cast<char>(sum & 0xFFU);
    }
    at += summed + 2 * kWord;
  }
  return bytes;
}

}  // namespace

void one_input(std::string_view bytes) {
  check_image(bytes);
  check_image(with_sums(std::string(bytes)));
}

}  // namespace neap::fuzz
