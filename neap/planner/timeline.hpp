// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The timeline that the heuristics work on: buffers with a size and no aliases,
// whose lifetimes are ranges of sections. A section is a stretch of time in
// which nothing new comes after something has gone; only those count in which
// as much lives as can, so that there are at most as many as buffers.
#pragma once

#include "neap/planner/problem.hpp"

namespace neap::planner {

struct Item {
  std::int32_t begin = 0;  // sections [begin, end) in which it lives
  std::int32_t end = 0;
  std::int64_t size = 0;  // above 0
  std::int64_t alignment = 1;
  std::int64_t fixed = -1;  // >= 0: its offset is given

  bool meets(const Item& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
};

struct Timeline {
  memory::Vector<Item> items;
  memory::Vector<std::int32_t> buffers;  // which of the problem each item is
  std::int32_t sections = 0;
};

/// The items in groups whose lifetimes never meet: each is a problem of its
/// own. Buffers of size 0 are in none. REQUIRES: no aliases, checked.
memory::Vector<Timeline> split_by_time(const Problem& merged);

/// A plan for a timeline: one offset an item.
struct Plan {
  memory::Vector<std::int64_t> offsets;  // empty: none
  std::int64_t height = kNoLimit;
  const char* method = "";
};

}  // namespace neap::planner
