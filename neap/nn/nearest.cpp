// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace neap::nn {

int edit_distance(std::string_view a, std::string_view b) {
  // row[j]: the distance of the part of `a` read so far to the first j of `b`.
  memory::Vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

memory::String nearest_names(std::string_view wanted,
                             std::span<const memory::String> names) {
  constexpr std::size_t kListed = 3;
  struct Candidate {
    int distance;
    std::size_t index;
    auto operator<=>(const Candidate&) const = default;
  };
  memory::Vector<Candidate> candidates;
  candidates.reserve(names.size());
  for (const memory::String& name : names) {
    candidates.push_back({edit_distance(wanted, name), candidates.size()});
  }
  const std::size_t count = std::min(kListed, candidates.size());
  const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(candidates.begin(), middle, candidates.end());
  memory::String listed;
  for (std::size_t i = 0; i < count; ++i) {
    listed += i == 0 ? "\"" : ", \"";
    listed += names[candidates[i].index];
    listed += '"';
  }
  return listed;
}

}  // namespace neap::nn
