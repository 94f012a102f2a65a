// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shapes and strides: at most kMaxRank extents, held in place, so that shape
// arithmetic never allocates. All products are checked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"

namespace neap {

inline constexpr int kMaxRank = 8;

/// A short list of extents, strides or axes.
class NEAP_API Shape {
 public:
  Shape() = default;  // rank 0: one element
  Shape(std::initializer_list<std::int64_t> extents)
      : Shape(std::span(extents.begin(), extents.size())) {}
  /// THROWS: ShapeError beyond kMaxRank.
  explicit Shape(std::span<const std::int64_t> extents);
  /// `rank` times the same extent.
  static Shape filled(int rank, std::int64_t extent);

  int rank() const noexcept { return rank_; }
  std::int64_t operator[](int axis) const noexcept {
    return extents_[static_cast<std::size_t>(axis)];
  }
  std::int64_t& operator[](int axis) noexcept {
    return extents_[static_cast<std::size_t>(axis)];
  }
  /// Extent counted from the end: back(1) is the last.
  std::int64_t back(int from_end = 1) const noexcept {
    return (*this)[rank_ - from_end];
  }

  const std::int64_t* begin() const noexcept { return extents_.data(); }
  const std::int64_t* end() const noexcept { return extents_.data() + rank_; }
  std::span<const std::int64_t> span() const noexcept {
    return {begin(), end()};
  }

  /// THROWS: ShapeError beyond kMaxRank.
  void push_back(std::int64_t extent);
  void insert(int axis, std::int64_t extent);
  void erase(int axis) noexcept;

  /// Product of the extents; 1 for rank 0; 0 where one is 0, however large the
  /// others. THROWS: ShapeError on overflow or a
  /// negative extent.
  std::int64_t element_count() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  std::int32_t rank_ = 0;
};

/// "[2, 3]"
NEAP_API std::string format_shape(const Shape& shape);

namespace base {

/// Strides, in elements, of a dense row-major array. THROWS: ShapeError on
/// overflow, but never for an array without elements.
NEAP_API Shape row_major_strides(const Shape& shape);

/// NumPy's rule. THROWS: ShapeError naming `op` and both shapes.
NEAP_API Shape broadcast(const char* op, const Shape& a, const Shape& b);

/// True when `from` broadcasts to exactly `to`.
NEAP_API bool broadcasts_to(const Shape& from, const Shape& to) noexcept;

/// Brings an axis counted from the end (-1: last) into [0, rank).
/// THROWS: ShapeError naming `op`.
NEAP_API int normalize_axis(const char* op, std::int64_t axis, int rank);

}  // namespace base
}  // namespace neap
