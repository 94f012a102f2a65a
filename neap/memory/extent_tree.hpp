// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Extents are runs of pages; ExtentTree orders the free ones by (pages,
// address), so that the best fit, and of equals the lowest, is found in
// logarithmic time. It is a treap whose priorities are hashes of addresses:
// its shape, and so every answer, depends on which extents are free and never
// on how they came to be. Not thread-safe.
#pragma once

#include <cstdint>

#include "neap/memory/book_array.hpp"

namespace neap::memory {

using ExtentId = std::uint32_t;  // 0: none

struct Extent {
  enum class State : std::uint8_t { kUnused, kFree, kLive };

  std::uintptr_t address;
  std::uint32_t pages;
  ExtentId left;  // address neighbours in the same mapping; 0: its edge
  ExtentId right;
  ExtentId lower;  // children in the tree, or the next unused one
  ExtentId higher;
  State state;
};

class ExtentTree {
 public:
  explicit ExtentTree(BookArray<Extent>& extents) noexcept
      : extents_(extents) {}

  void insert(ExtentId id) noexcept;
  /// REQUIRES: it is in the tree.
  void remove(ExtentId id) noexcept;

  /// The first extent not before (pages, address), or 0.
  ExtentId first_from(std::uint32_t pages,
                      std::uintptr_t address = 0) const noexcept;
  /// The last of all, which is one of the largest; 0 when empty.
  ExtentId last() const noexcept;
  bool is_empty() const noexcept { return root_ == 0; }

 private:
  struct Key {
    std::uint32_t pages;
    std::uintptr_t address;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Key key_of(ExtentId id) const noexcept {
    return {extents_[id].pages, extents_[id].address};
  }
  std::uint32_t priority_of(ExtentId id) const noexcept {
    return hash_of_key(extents_[id].address);
  }

  BookArray<Extent>& extents_;
  ExtentId root_ = 0;
};

}  // namespace neap::memory
