// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The storage of an allocator's own bookkeeping: a flat array that lives in
// pages taken straight from the system, and an open-addressing index into such
// an array. Both grow by doubling, say beforehand by how much, and either grow
// or stay as they were. Not thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "neap/memory/system_pages.hpp"

namespace neap::memory {

/// Elements are zero bytes until written; pointers into it die with growth.
template <class T>
class BookArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit BookArray(SystemPages& pages) noexcept : pages_(pages) {}
  ~BookArray() {
    if (data_ != nullptr) {
      pages_.unmap(data_, bytes_);
    }
  }
  BookArray(const BookArray&) = delete;
  BookArray& operator=(const BookArray&) = delete;

  std::size_t capacity() const noexcept {
    return static_cast<std::size_t>(bytes_) / sizeof(T);
  }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }

  /// Bytes that reserve(count) would take from the system.
  Bytes growth_for(std::size_t count) const noexcept {
    return std::max<Bytes>(bytes_for(count) - bytes_, 0);
  }

  /// Room for `count` elements. RETURNS: false when the system refuses.
  bool reserve(std::size_t count) noexcept {
    const Bytes wanted = bytes_for(count);
    if (wanted <= bytes_) {
      return true;
    }
    void* data = data_ == nullptr ? pages_.map(wanted)
                                  : pages_.grow(data_, bytes_, wanted);
    if (data == nullptr) {
      return false;
    }
    data_ = static_cast<T*>(data);
    bytes_ = wanted;
    return true;
  }

 private:
  // A power of two of pages.
  static Bytes bytes_for(std::size_t count) noexcept {
    if (count == 0) {
      return 0;
    }
    const std::size_t bytes = std::bit_ceil(count * sizeof(T));
    return std::max(static_cast<Bytes>(bytes), page_bytes());
  }

  SystemPages& pages_;
  T* data_ = nullptr;
  Bytes bytes_ = 0;
};

/// Hash -> id > 0 of an entry that the caller keeps. At most half full; linear
/// probing; entries leave without tombstones.
class BookIndex {
 public:
  using Id = std::uint32_t;

  explicit BookIndex(SystemPages& pages) noexcept : slots_(pages) {}

  Bytes growth_for(std::size_t count) const noexcept {
    return slots_.growth_for(2 * count);
  }

  /// Room for `count` entries. `each(insert)` must call insert(hash, id) for
  /// every entry now in the index. RETURNS: false when the system refuses.
  template <class Each>
  bool reserve(std::size_t count, Each&& each) noexcept {
    if (slots_.growth_for(2 * count) == 0) {
      return true;
    }
    if (!slots_.reserve(2 * count)) {
      return false;
    }
    rebuild(std::forward<Each>(each));
    return true;
  }

  template <class Each>
  void rebuild(Each&& each) noexcept {
    if (slots_.capacity() > 0) {
      std::fill_n(&slots_[0], slots_.capacity(), Id{0});
    }
    each([this](std::uint32_t hash, Id id) { insert(hash, id); });
  }

  /// REQUIRES: room was reserved.
  void insert(std::uint32_t hash, Id id) noexcept {
    std::size_t slot = hash & mask();
    while (slots_[slot] != 0) {
      slot = (slot + 1) & mask();
    }
    slots_[slot] = id;
  }

  /// The id for which `is_it(id)`, or 0.
  template <class IsIt>
  Id find(std::uint32_t hash, IsIt&& is_it) const noexcept {
    if (slots_.capacity() == 0) {
      return 0;
    }
    for (std::size_t slot = hash & mask(); slots_[slot] != 0;
         slot = (slot + 1) & mask()) {
      if (is_it(slots_[slot])) {
        return slots_[slot];
      }
    }
    return 0;
  }

  /// Takes an entry out; later ones of its run move up into the gap.
  /// REQUIRES: it is there.
  template <class HashOf>
  void erase(std::uint32_t hash, Id id, HashOf&& hash_of) noexcept {
    std::size_t gap = hash & mask();
    while (slots_[gap] != id) {
      gap = (gap + 1) & mask();
    }
    for (std::size_t slot = (gap + 1) & mask(); slots_[slot] != 0;
         slot = (slot + 1) & mask()) {
      const std::size_t home = hash_of(slots_[slot]) & mask();
      if (((slot - home) & mask()) >= ((slot - gap) & mask())) {
        slots_[gap] = slots_[slot];
        gap = slot;
      }
    }
    slots_[gap] = 0;
  }

 private:
  std::size_t mask() const noexcept { return slots_.capacity() - 1; }

  BookArray<Id> slots_;  // 0: empty
};

/// Spreads a 64-bit key over 32 bits.
constexpr std::uint32_t hash_of_key(std::uint64_t key) noexcept {
  key ^= key >> 29U;
  key *= 0x9E3779B97F4A7C15U;
  return static_cast<std::uint32_t>(key >> 32U);
}

}  // namespace neap::memory
