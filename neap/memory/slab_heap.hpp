// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SlabHeap: blocks of up to 2 KiB, cut from slabs of 32 KiB that start at a
// multiple of 32 KiB, one size class each.
//
//   slab  | header 128 B | block 0 | block 1 | ...
//
// The header holds one bit per block. The lowest free block of the oldest slab
// with room is taken first, and an empty slab goes back to the page heap at
// once. So the same requests take as many slabs in every process, wherever the
// system puts them. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>

#include "neap/memory/page_heap.hpp"

namespace neap::memory {

inline constexpr Bytes kSlabBytes = 32 * kKiB;
inline constexpr Bytes kSlabUnit = 64;  // sizes are multiples of it
inline constexpr Bytes kLargestSmall = 2 * kKiB;
inline constexpr int kSizeClasses = 16;

/// 64, 128, ... 512, then four to each doubling: 640, 768, 896, 1024, ... 2048.
int size_class_of(Bytes size) noexcept;
Bytes size_of_class(int size_class) noexcept;

class SlabHeap {
 public:
  explicit SlabHeap(PageHeap& pages) noexcept : pages_(pages) {}
  SlabHeap(const SlabHeap&) = delete;
  SlabHeap& operator=(const SlabHeap&) = delete;

  /// All of 0 < size <= kLargestSmall, aligned to kSlabUnit.
  Bytes growth_for(Bytes size) const noexcept;
  void* allocate(Bytes size) noexcept;
  void release(void* block) noexcept;

  bool is_consistent() const noexcept;

 private:
  struct Slab;
  struct SlabNodes {  // slabs with room as members of a Treap, by age
    using Id = Slab*;
    using Key = std::uint64_t;
    static Key key(Id slab) noexcept;
    static std::uint32_t priority(Id slab) noexcept {
      return hash_of_key(key(slab));
    }
    static Id& lower(Id slab) noexcept;
    static Id& higher(Id slab) noexcept;
  };
  struct SizeClass {
    Treap<SlabNodes> with_room;
    Slab* oldest = nullptr;  // of them
  };

  Slab* open(std::size_t size_class) noexcept;
  void add(Slab* slab) noexcept;
  void remove(Slab* slab) noexcept;

  PageHeap& pages_;
  std::uint64_t opened_ = 0;  // slabs, ever
  std::array<SizeClass, kSizeClasses> classes_;
};

}  // namespace neap::memory
