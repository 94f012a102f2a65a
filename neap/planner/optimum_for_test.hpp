// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The lowest height of tiny problems, by trying every offset; for tests.
#pragma once

#include <algorithm>
#include <vector>

#include "neap/planner/problem.hpp"

namespace neap::planner {

inline bool collide(const Buffer& a, std::int64_t offset_a, const Buffer& b,
                    std::int64_t offset_b) {
  return a.size > 0 && b.size > 0 && a.lower < b.upper && b.lower < a.upper &&
         offset_a < offset_b + b.size && offset_b < offset_a + a.size;
}

/// Whether a plan of at most this height exists. No aliases.
inline bool has_plan(const Problem& problem, std::int64_t height) {
  std::vector<Buffer> buffers;
  for (const Buffer& b : problem.buffers) {
    if (b.size > 0 && b.fixed >= 0 && b.fixed + b.size > height) {
      return false;
    }
    if (b.size > 0) {
      buffers.push_back(b);
    }
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const Buffer& a, const Buffer& b) {
              return (a.fixed >= 0) != (b.fixed >= 0) ? a.fixed >= 0
                                                      : a.lower < b.lower;
            });
  // offsets[k] is what is tried for the k-th; those before it fit together.
  std::vector<std::int64_t> offsets(buffers.size() + 1, 0);
  std::size_t k = 0;
  const auto begin = [&] {
    offsets[k] =
        k < buffers.size() ? std::max<std::int64_t>(buffers[k].fixed, 0) : 0;
  };
  for (begin(); k < buffers.size();) {
    const Buffer& b = buffers[k];
    if (offsets[k] + b.size > height ||
        (b.fixed >= 0 && offsets[k] > b.fixed)) {
      if (k == 0) {
        return false;
      }
      --k;
      offsets[k] += buffers[k].alignment;
      continue;
    }
    bool fits = true;
    for (std::size_t j = 0; j < k && fits; ++j) {
      fits = !collide(b, offsets[k], buffers[j], offsets[j]);
    }
    if (fits) {
      ++k;
      begin();
    } else {
      offsets[k] += b.alignment;
    }
  }
  return true;
}

/// The lowest height that is a multiple of `unit`; kNoLimit: fixed buffers
/// overlap.
inline std::int64_t optimum(const Problem& problem, std::int64_t unit = 1) {
  std::int64_t least = 0;  // what lives when some buffer begins
  std::int64_t most = 0;
  for (const Buffer& b : problem.buffers) {
    std::int64_t sum = 0;
    for (const Buffer& other : problem.buffers) {
      const bool lives = other.lower <= b.lower && b.lower < other.upper;
      sum += lives ? other.size : 0;
    }
    least = std::max(least, sum);
    most += b.size + b.alignment + std::max<std::int64_t>(b.fixed, 0);
    for (const Buffer& other : problem.buffers) {
      if (&b != &other && b.fixed >= 0 && other.fixed >= 0 &&
          collide(b, b.fixed, other, other.fixed)) {
        return kNoLimit;
      }
    }
  }
  for (std::int64_t height = least; height <= most; height += unit) {
    if (has_plan(problem, height)) {
      return height;
    }
  }
  return kNoLimit;
}

}  // namespace neap::planner
