// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SlotIndex: finds positions in a list by the hashes of its elements. Open
// addressing, at most half full, in memory of a domain; the list stays the
// caller's. The first added of equal elements is found.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "neap/memory/containers.hpp"

namespace neap::memory {

class SlotIndex {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  SlotIndex() = default;
  explicit SlotIndex(const Allocator<std::uint32_t>& allocator)
      : slots_(allocator) {}

  /// False: nothing is indexed.
  bool is_in_use() const noexcept { return !slots_.empty(); }

  /// Reserves capacity for `count` positions. RETURNS: true where the index had
  /// to grow: it is empty then, and all positions are to be added again.
  /// THROWS: OutOfMemory, with nothing changed.
  bool reserve(std::size_t count) {
    if (2 * count <= slots_.size()) {
      return false;
    }
    Vector<std::uint32_t> room(std::bit_ceil(2 * count), 0U,
                               slots_.get_allocator());
    slots_.swap(room);
    return true;
  }
  /// REQUIRES: capacity.
  void add(std::size_t hash, std::size_t position) noexcept {
    std::size_t slot = start(hash);
    while (slots_[slot] != 0) {
      slot = next(slot);
    }
    slots_[slot] = static_cast<std::uint32_t>(position + 1);
  }
  /// The position for which is_it(position), or kNone.
  template <class IsIt>
  std::size_t find(std::size_t hash, const IsIt& is_it) const {
    for (std::size_t slot = start(hash); slots_[slot] != 0; slot = next(slot)) {
      if (is_it(slots_[slot] - 1)) {
        return slots_[slot] - 1;
      }
    }
    return kNone;
  }

 private:
  // Hashes of pointers differ in few bits.
  std::size_t start(std::size_t hash) const noexcept {
    return (hash * 0x9E3779B97F4A7C15U) >> 32U & (slots_.size() - 1);
  }
  std::size_t next(std::size_t slot) const noexcept {
    return (slot + 1) & (slots_.size() - 1);
  }

  Vector<std::uint32_t> slots_;  // position + 1; 0: free
};

}  // namespace neap::memory
