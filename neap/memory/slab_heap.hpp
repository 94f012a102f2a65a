// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SlabHeap: blocks of up to 2 KiB, cut from slabs of 32 KiB that start at a
// multiple of 32 KiB, one size class each.
//
//   slab  | header 128 B | block 0 | block 1 | ...
//
// The header holds one bit per block; the lowest free block is taken first, so
// that where blocks lie follows from which are live. One empty slab per class
// is kept, others go back to the page heap. Not thread-safe.
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

  /// Gives the kept empty slabs to the page heap.
  void trim() noexcept;
  /// Bytes of the kept empty slabs.
  Bytes idle() const noexcept { return kept_count_ * kSlabBytes; }

  bool is_consistent() const noexcept;

 private:
  struct Slab;
  Slab* open(int size_class) noexcept;
  void link(Slab* slab) noexcept;
  void unlink(Slab* slab) noexcept;

  PageHeap& pages_;
  std::array<Slab*, kSizeClasses> partial_{};  // with some free blocks
  std::array<Slab*, kSizeClasses> kept_{};     // empty; at most one each
  Bytes kept_count_ = 0;
};

}  // namespace neap::memory
