// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/slab_heap.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "neap/base/assert.hpp"

namespace neap::memory {
namespace {

constexpr Bytes kHeader = 128;
constexpr std::size_t kWords = 8;  // 512 bits: more than the 510 blocks of 64

constexpr std::array<std::uint16_t, kSizeClasses> kSizes = {
    64,  128, 192, 256,  320,  384,  448,  512,
    640, 768, 896, 1024, 1280, 1536, 1792, 2048};

// Size in units, rounded up -> class.
constexpr auto kClassOf = [] {
  std::array<std::uint8_t, kLargestSmall / kSlabUnit + 1> table{};
  std::size_t size_class = 0;
  for (std::size_t units = 0; units < table.size(); ++units) {
    if (units * kSlabUnit > kSizes[size_class]) {
      ++size_class;
    }
    table[units] = static_cast<std::uint8_t>(size_class);
  }
  return table;
}();

// Division by a class's units as a product: exact below 512 units.
constexpr auto kReciprocal = [] {
  std::array<std::uint32_t, kSizeClasses> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto units = static_cast<std::uint32_t>(kSizes[i] / kSlabUnit);
    table[i] = (65536 + units - 1) / units;
  }
  return table;
}();

std::size_t class_of(Bytes size) noexcept {
  return kClassOf[static_cast<std::size_t>((size + kSlabUnit - 1) / kSlabUnit)];
}

}  // namespace

struct SlabHeap::Slab {
  Slab* lower;  // children among the slabs with room
  Slab* higher;
  std::uint64_t number;  // of its opening
  std::uint16_t size_class;
  std::uint16_t capacity;  // blocks
  std::uint16_t live;      // blocks
  std::uint16_t first;     // no word before this one has a free block
  std::array<std::uint64_t, kWords> free;  // bit set: that block is free

  std::byte* start() noexcept { return reinterpret_cast<std::byte*>(this); }

  void* take() noexcept {
    while (free[first] == 0) {
      ++first;
    }
    const auto bit = static_cast<std::size_t>(std::countr_zero(free[first]));
    free[first] &= free[first] - 1;
    ++live;
    return start() + kHeader + (first * 64U + bit) * kSizes[size_class];
  }

  // Not noexcept, so that checked builds may throw here; release then ends
  // the program, which has lost its memory.
  void give(void* block) {
    const auto offset = static_cast<std::byte*>(block) - start() - kHeader;
    const auto units = static_cast<std::uint32_t>(offset / kSlabUnit);
    const std::uint32_t at = units * kReciprocal[size_class] >> 16U;
    const std::uint64_t bit = std::uint64_t{1} << (at % 64U);
    NEAP_ASSERT(at < capacity && (free[at / 64U] & bit) == 0,
                "slab: block released twice");
    free[at / 64U] |= bit;
    first = std::min(first, static_cast<std::uint16_t>(at / 64U));
    --live;
  }
};

int size_class_of(Bytes size) noexcept {
  return static_cast<int>(class_of(size));
}

Bytes size_of_class(int size_class) noexcept {
  return kSizes[static_cast<std::size_t>(size_class)];
}

std::uint64_t SlabHeap::SlabNodes::key(Id slab) noexcept {
  return slab->number;
}

SlabHeap::Slab*& SlabHeap::SlabNodes::lower(Id slab) noexcept {
  return slab->lower;
}

SlabHeap::Slab*& SlabHeap::SlabNodes::higher(Id slab) noexcept {
  return slab->higher;
}

Bytes SlabHeap::growth_for(Bytes size) const noexcept {
  return classes_[class_of(size)].oldest != nullptr
             ? 0
             : pages_.growth_for(kSlabBytes, kSlabBytes);
}

void* SlabHeap::allocate(Bytes size) noexcept {
  const std::size_t c = class_of(size);
  Slab* slab = classes_[c].oldest;
  if (slab == nullptr) {
    slab = open(c);
    if (slab == nullptr) {
      return nullptr;
    }
  }
  void* block = slab->take();
  if (slab->live == slab->capacity) {
    remove(slab);
  }
  return block;
}

SlabHeap::Slab* SlabHeap::open(std::size_t size_class) noexcept {
  static_assert(sizeof(Slab) <= kHeader);
  void* pages = pages_.allocate(kSlabBytes, kSlabBytes);
  if (pages == nullptr) {
    return nullptr;
  }
  Slab* slab = ::new (pages) Slab{};
  slab->number = ++opened_;
  const auto blocks =
      static_cast<std::size_t>((kSlabBytes - kHeader) / kSizes[size_class]);
  slab->size_class = static_cast<std::uint16_t>(size_class);
  slab->capacity = static_cast<std::uint16_t>(blocks);
  for (std::size_t i = 0; i < blocks; i += 64) {
    const std::size_t left = blocks - i;
    slab->free[i / 64] =
        left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
  }
  add(slab);
  return slab;
}

void SlabHeap::release(void* block) noexcept {
  const auto offset = reinterpret_cast<std::uintptr_t>(block) &
                      static_cast<std::uintptr_t>(kSlabBytes - 1);
  auto* slab = reinterpret_cast<Slab*>(static_cast<std::byte*>(block) - offset);
  if (slab->live == slab->capacity) {
    add(slab);
  }
  slab->give(block);
  if (slab->live == 0) {
    remove(slab);
    pages_.release(slab);
  }
}

void SlabHeap::add(Slab* slab) noexcept {
  SizeClass& c = classes_[slab->size_class];
  c.with_room.insert(slab);
  if (c.oldest == nullptr || slab->number < c.oldest->number) {
    c.oldest = slab;
  }
}

void SlabHeap::remove(Slab* slab) noexcept {
  SizeClass& c = classes_[slab->size_class];
  c.with_room.remove(slab);
  if (slab == c.oldest) {
    c.oldest = c.with_room.first();
  }
}

bool SlabHeap::is_consistent() const noexcept {
  bool good = true;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    good = good && classes_[c].oldest == classes_[c].with_room.first();
    for (Slab* s = classes_[c].oldest; s != nullptr;
         s = classes_[c].with_room.first_from(SlabNodes::key(s) + 1)) {
      int free = 0;
      for (const std::uint64_t word : s->free) {
        free += std::popcount(word);
      }
      good = good && s->size_class == c && free == s->capacity - s->live &&
             s->live > 0 && free > 0;
    }
  }
  return good;
}

}  // namespace neap::memory
