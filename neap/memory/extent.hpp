// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Extents are runs of pages in one mapping. The free ones are ordered by
// (pages, age of the mapping, address), so that the best fit, and of equals the
// lowest in the oldest mapping, is the first from the wanted size on: wherever
// the system places mappings, the same requests get the same extents.
#pragma once

#include <compare>
#include <cstdint>

#include "neap/memory/book_array.hpp"
#include "neap/memory/treap.hpp"

namespace neap::memory {

using ExtentId = std::uint32_t;  // 0: none

struct Extent {
  enum class State : std::uint8_t { kUnused, kFree, kLive };

  std::uintptr_t address;
  std::uint32_t pages;
  ExtentId left;  // address neighbours in the same mapping; 0: its edge
  ExtentId right;
  ExtentId lower;  // children among the free, or the next unused descriptor
  ExtentId higher;
  std::uint32_t mapping : 30;  // its number, which may wrap
  State state : 2;
};

/// Free extents as members of a Treap.
class ExtentNodes {
 public:
  using Id = ExtentId;
  struct Key {
    std::uint32_t pages;
    std::uint32_t mapping = 0;
    std::uintptr_t address = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  explicit ExtentNodes(BookArray<Extent>& extents) noexcept
      : extents_(&extents) {}

  Key key(Id id) const noexcept {
    const Extent& extent = (*extents_)[id];
    return {extent.pages, extent.mapping, extent.address};
  }
  std::uint32_t priority(Id id) const noexcept {
    return hash_of_key((*extents_)[id].address);
  }
  Id& lower(Id id) const noexcept { return (*extents_)[id].lower; }
  Id& higher(Id id) const noexcept { return (*extents_)[id].higher; }

 private:
  BookArray<Extent>* extents_;
};

using ExtentTree = Treap<ExtentNodes>;

}  // namespace neap::memory
