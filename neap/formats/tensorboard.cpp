// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/tensorboard.hpp"

#include <bit>

#include "neap/formats/crc32c.hpp"

namespace neap::formats {
namespace {

using Out = memory::Vector<std::byte>;

// The key in front of a field: its number and how it is written.
enum class Wire : std::uint8_t { kVarint = 0, k64 = 1, kBytes = 2, k32 = 5 };
constexpr std::uint8_t key(unsigned field, Wire wire) noexcept {
  return static_cast<std::uint8_t>(field << 3U | static_cast<unsigned>(wire));
}
constexpr std::uint8_t kWallTime = key(1, Wire::k64);
constexpr std::uint8_t kStep = key(2, Wire::kVarint);
constexpr std::uint8_t kFileVersion = key(3, Wire::kBytes);
constexpr std::uint8_t kSummary = key(5, Wire::kBytes);
constexpr std::uint8_t kValue = key(1, Wire::kBytes);     // of Summary
constexpr std::uint8_t kTag = key(1, Wire::kBytes);       // of Value
constexpr std::uint8_t kSimpleValue = key(2, Wire::k32);  // likewise

void put_byte(Out& out, std::uint64_t byte) {
  out.push_back(static_cast<std::byte>(byte & 0xFFU));
}

void put_little_endian(Out& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    put_byte(out, value >> 8U * static_cast<unsigned>(i));
  }
}

void put_varint(Out& out, std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) {
    put_byte(out, value | 0x80U);
  }
  put_byte(out, value);
}

std::size_t varint_bytes(std::uint64_t value) noexcept {
  return value == 0 ? 1 : (std::bit_width(value) + 6U) / 7U;
}

// A key, a length and as many bytes.
std::size_t field_bytes(std::size_t length) noexcept {
  return 1 + varint_bytes(length) + length;
}

void put_text(Out& out, std::uint8_t field, std::string_view text) {
  put_byte(out, field);
  put_varint(out, text.size());
  for (const char c : text) {
    put_byte(out, static_cast<unsigned char>(c));
  }
}

std::uint32_t masked_crc(std::span<const std::byte> bytes) noexcept {
  constexpr std::uint32_t kMask = 0xA282EAD8;
  return std::rotr(crc32c(bytes), 15) + kMask;
}

// A frame around what put_data(out) appends, which is `length` bytes.
template <class PutData>
void put_frame(Out& out, std::size_t length, const PutData& put_data) {
  constexpr std::size_t kLengthBytes = 8;
  constexpr std::size_t kCrcBytes = 4;
  out.reserve(out.size() + kLengthBytes + length + 2 * kCrcBytes);
  const std::size_t start = out.size();
  put_little_endian(out, length, kLengthBytes);
  put_little_endian(out, masked_crc(std::span(out).subspan(start)), kCrcBytes);
  const std::size_t data = out.size();
  put_data();
  put_little_endian(out, masked_crc(std::span(out).subspan(data)), kCrcBytes);
}

constexpr std::size_t kWallTimeBytes = 9;

void put_wall_time(Out& out, double seconds) {
  put_byte(out, kWallTime);
  put_little_endian(out, std::bit_cast<std::uint64_t>(seconds), 8);
}

constexpr std::size_t kSimpleValueBytes = 5;

std::size_t value_bytes(const Scalar& scalar) noexcept {
  return field_bytes(scalar.tag.size()) + kSimpleValueBytes;
}

void put_value(Out& out, const Scalar& scalar) {
  put_byte(out, kValue);
  put_varint(out, value_bytes(scalar));
  put_text(out, kTag, scalar.tag);
  put_byte(out, kSimpleValue);
  const auto value = static_cast<float>(scalar.value);
  put_little_endian(out, std::bit_cast<std::uint32_t>(value), 4);
}

}  // namespace

void append_version_event(Out& out, double wall_time) {
  constexpr std::string_view kVersion = "brain.Event:2";
  put_frame(out, kWallTimeBytes + field_bytes(kVersion.size()), [&] {
    put_wall_time(out, wall_time);
    put_text(out, kFileVersion, kVersion);
  });
}

void append_scalars(Out& out, double wall_time, std::int64_t step,
                    std::span<const Scalar> scalars) {
  const auto number = static_cast<std::uint64_t>(step);
  std::size_t summary = 0;
  for (const Scalar& scalar : scalars) {
    summary += field_bytes(value_bytes(scalar));
  }
  const std::size_t length =
      kWallTimeBytes + 1 + varint_bytes(number) + field_bytes(summary);
  put_frame(out, length, [&] {
    put_wall_time(out, wall_time);
    put_byte(out, kStep);
    put_varint(out, number);
    put_byte(out, kSummary);
    put_varint(out, summary);
    for (const Scalar& scalar : scalars) {
      put_value(out, scalar);
    }
  });
}

}  // namespace neap::formats
