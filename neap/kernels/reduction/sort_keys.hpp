// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Keys that order as their elements do, as unsigned numbers, and stable sorts
// of them that need no memory of their own. For sort.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace neap::kernels {

template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// An element's key: increasing, equal where elements are, NaN above all.
template <class T>
KeyOf<T> key_of(T x) noexcept {
  using Key = KeyOf<T>;
  constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) {
      return ~Key{0};
    }
    const Key bits = std::bit_cast<Key>(x == T(0) ? T(0) : x);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else {
    return static_cast<Key>(x) ^ kSign;
  }
}

template <class Key>
struct Entry {
  Key key;
  std::uint32_t index;  // along the axis

  friend bool operator<(const Entry& a, const Entry& b) noexcept {
    return a.key < b.key || (a.key == b.key && a.index < b.index);
  }
};

template <class Key>
void insertion_sort(Entry<Key>* entries, std::int64_t count) noexcept {
  for (std::int64_t i = 1; i < count; ++i) {
    const Entry<Key> entry = entries[i];
    std::int64_t at = i;
    for (; at > 0 && entry.key < entries[at - 1].key; --at) {
      entries[at] = entries[at - 1];
    }
    entries[at] = entry;
  }
}

/// Sorts by key, stably, byte by byte from the lowest; bytes that all keys
/// share are skipped. `spare` has room for as many. RETURNS: which of the two
/// holds the result.
template <class Key>
Entry<Key>* sort_entries(Entry<Key>* entries, Entry<Key>* spare,
                         std::int64_t count) noexcept {
  constexpr std::int64_t kFew = 48;
  if (count <= kFew) {
    insertion_sort(entries, count);
    return entries;
  }
  constexpr std::size_t kBytes = sizeof(Key);
  std::array<std::array<std::uint32_t, 256>, kBytes> counts{};
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < kBytes; ++b) {
      ++counts[b][entries[i].key >> (8 * b) & 0xFF];
    }
  }
  for (std::size_t b = 0; b < kBytes; ++b) {
    std::array<std::uint32_t, 256>& places = counts[b];
    if (places[entries[0].key >> (8 * b) & 0xFF] == count) {
      continue;
    }
    std::uint32_t start = 0;
    for (std::uint32_t& place : places) {
      const std::uint32_t many = place;
      place = start;
      start += many;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      spare[places[entries[i].key >> (8 * b) & 0xFF]++] = entries[i];
    }
    std::swap(entries, spare);
  }
  return entries;
}

}  // namespace neap::kernels
