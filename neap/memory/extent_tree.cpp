// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/extent_tree.hpp"

namespace neap::memory {

// Goes down past stronger nodes, takes the place found there, and splits what
// hung there between its own two sides.
void ExtentTree::insert(ExtentId id) noexcept {
  const Key key = key_of(id);
  ExtentId* link = &root_;
  while (*link != 0 && priority_of(*link) >= priority_of(id)) {
    Extent& at = extents_[*link];
    link = key < key_of(*link) ? &at.lower : &at.higher;
  }
  ExtentId rest = *link;
  *link = id;
  ExtentId* lower = &extents_[id].lower;
  ExtentId* higher = &extents_[id].higher;
  while (rest != 0) {
    if (key_of(rest) < key) {
      *lower = rest;
      lower = &extents_[rest].higher;
      rest = *lower;
    } else {
      *higher = rest;
      higher = &extents_[rest].lower;
      rest = *higher;
    }
  }
  *lower = 0;
  *higher = 0;
}

void ExtentTree::remove(ExtentId id) noexcept {
  const Key key = key_of(id);
  ExtentId* link = &root_;
  while (*link != id) {
    Extent& at = extents_[*link];
    link = key < key_of(*link) ? &at.lower : &at.higher;
  }
  ExtentId lower = extents_[id].lower;
  ExtentId higher = extents_[id].higher;
  while (lower != 0 && higher != 0) {
    if (priority_of(lower) >= priority_of(higher)) {
      *link = lower;
      link = &extents_[lower].higher;
      lower = *link;
    } else {
      *link = higher;
      link = &extents_[higher].lower;
      higher = *link;
    }
  }
  *link = lower != 0 ? lower : higher;
}

ExtentId ExtentTree::first_from(std::uint32_t pages,
                                std::uintptr_t address) const noexcept {
  const Key key{pages, address};
  ExtentId best = 0;
  for (ExtentId at = root_; at != 0;) {
    if (key_of(at) < key) {
      at = extents_[at].higher;
    } else {
      best = at;
      at = extents_[at].lower;
    }
  }
  return best;
}

ExtentId ExtentTree::last() const noexcept {
  ExtentId at = root_;
  while (at != 0 && extents_[at].higher != 0) {
    at = extents_[at].higher;
  }
  return at;
}

}  // namespace neap::memory
