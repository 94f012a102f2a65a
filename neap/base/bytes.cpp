// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/bytes.hpp"

#include <fmt/format.h>

#include <array>
#include <ostream>

namespace neap {

std::string format_grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ' ');
  }
  return digits;
}

std::string format_bytes_short(Bytes bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB",
                                                        "TiB", "PiB"};
  if (bytes < kKiB && bytes > -kKiB) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  while ((value >= 1024.0 || value <= -1024.0) && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string format_bytes(Bytes bytes) {
  if (bytes < kKiB && bytes > -kKiB) {
    return fmt::format("{} B", bytes);
  }
  return fmt::format("{} ({} B)", format_bytes_short(bytes),
                     format_grouped(bytes));
}

std::ostream& operator<<(std::ostream& out, ByteCount count) {
  return out << format_bytes(count.bytes());
}

}  // namespace neap
