// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "byte_size.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "numbers.hpp"

namespace neap::app {
namespace {

// "MiB" -> 2^20; nothing for what is no unit.
std::optional<Bytes> bytes_of(std::string_view unit) noexcept {
  constexpr std::string_view kPowers = "kmgt";
  if (unit.empty() || unit == "b") {
    return 1;
  }
  const std::size_t power = kPowers.find(unit.front());
  unit.remove_prefix(1);
  const bool is_decimal = unit == "b";
  if (power == kPowers.npos || (!is_decimal && !unit.empty() && unit != "ib")) {
    return {};
  }
  Bytes bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) {
    bytes *= is_decimal ? 1000 : 1024;
  }
  return bytes;
}

bool is_part_of_number(char c) noexcept {
  return (c >= '0' && c <= '9') || c == '.';
}

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) noexcept {
  const auto split = static_cast<std::size_t>(
      std::find_if_not(text.begin(), text.end(), is_part_of_number) -
      text.begin());
  const std::string_view number = text.substr(0, split);
  std::string_view rest = text.substr(split);
  while (rest.starts_with(' ')) {
    rest.remove_prefix(1);
  }
  std::array<char, 3> unit{};
  if (rest.size() > unit.size()) {
    return {};
  }
  std::transform(rest.begin(), rest.end(), unit.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  const auto each = bytes_of({unit.data(), rest.size()});
  if (!each) {
    return {};
  }
  Bytes count = 0;
  if (parse_number(number, count)) {
    return count > 0 && count <= kUnlimited / *each
               ? std::optional(count * *each)
               : std::nullopt;
  }
  double share = 0;
  if (*each == 1 || !parse_number(number, share)) {
    return {};
  }
  constexpr double kMost = 0x1p53;  // above it not every number is a double
  const double bytes = share * static_cast<double>(*each);
  return bytes >= 1 && bytes < kMost ? std::optional(static_cast<Bytes>(bytes))
                                     : std::nullopt;
}

std::string read_budget(std::string_view text, Bytes& budget) {
  constexpr Bytes kLeastWithoutUnit = kMiB;  // no process is as small
  Bytes bare = 0;
  if (parse_number(text, bare) && bare > 0 && bare < kLeastWithoutUnit) {
    return fmt::format("a size with a unit: {0}MiB, or {0}B for bytes", bare);
  }
  const auto bytes = parse_bytes(text);
  if (!bytes) {
    return "a size, like 64MiB, 1.5GiB, 512K or 67108864";
  }
  budget = *bytes;
  return {};
}

}  // namespace neap::app
