// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli: polynomial 1EDC6F41, reflected), as iSCSI has it
// (RFC 3720, B.4), a byte at a time by a table of 1 KiB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace neap::formats {

namespace internal {
constexpr std::array<std::uint32_t, 256> make_crc32c_table() noexcept {
  constexpr std::uint32_t kReflected = 0x82F63B78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = value >> 1U ^ ((value & 1U) != 0 ? kReflected : 0);
    }
    table[byte] = value;
  }
  return table;
}
inline constexpr auto kCrc32cTable = make_crc32c_table();
}  // namespace internal

constexpr std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
  std::uint32_t value = ~std::uint32_t{0};
  for (const std::byte byte : bytes) {
    const std::uint32_t low = value ^ std::to_integer<std::uint32_t>(byte);
    value = internal::kCrc32cTable[low & 0xFFU] ^ value >> 8U;
  }
  return ~value;
}

}  // namespace neap::formats
