// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "nearest.hpp"

#include <algorithm>
#include <vector>

namespace neap::app {
namespace {

constexpr std::size_t kLongest = 64;  // letters; no name has as many

std::size_t distance(std::string_view a, std::string_view b) {
  // rows[i % 3][j]: between the first i letters of a and the first j of b.
  std::vector<std::size_t> rows[3];
  for (auto& row : rows) {
    row.resize(b.size() + 1);
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    rows[0][j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t>& now = rows[i % 3];
    const std::vector<std::size_t>& last = rows[(i + 2) % 3];
    const std::vector<std::size_t>& before = rows[(i + 1) % 3];
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool is_same = a[i - 1] == b[j - 1];
      now[j] = std::min(
          {last[j] + 1, now[j - 1] + 1, last[j - 1] + (is_same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view given,
                         std::span<const std::string> names) {
  given = given.substr(0, kLongest);
  const std::string* nearest = nullptr;
  std::size_t fewest = kLongest;
  for (const std::string& name : names) {
    const std::size_t letters = distance(given, name);
    if (letters < fewest &&
        3 * letters <= std::max(name.size(), given.size())) {
      nearest = &name;
      fewest = letters;
    }
  }
  return nearest != nullptr ? " (did you mean " + *nearest + "?)" : "";
}

}  // namespace neap::app
