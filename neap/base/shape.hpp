// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shapes and strides: at most kMaxRank extents, held inline, so that shape
// arithmetic never allocates. All products are checked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"

namespace neap {

inline constexpr int kMaxRank = 8;

/// A short list of extents, strides or axes.
class NEAP_API Shape {
 public:
  Shape() noexcept {}  // NOLINT(*-use-equals-default): rank 0, one element
  Shape(const Shape& other) noexcept : rank_(other.rank_) {
    copy_extents(other);
  }
  Shape& operator=(const Shape& other) noexcept {
    rank_ = other.rank_;
    copy_extents(other);
    return *this;
  }
  ~Shape() = default;
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
    bool is_equal = a.rank_ == b.rank_;
    for (int axis = 0; is_equal && axis < a.rank_; ++axis) {
      is_equal = a[axis] == b[axis];
    }
    return is_equal;
  }

 private:
  // Shapes are copied at every op call. One word at a time: a wide load of what
  // was just written in words would stall, and a loop would become a call.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // it misses rank_
#endif
  void copy_extents(const Shape& other) noexcept {
    switch (rank_) {
      case 8:
        extents_[7] = other.extents_[7];
        [[fallthrough]];
      case 7:
        extents_[6] = other.extents_[6];
        [[fallthrough]];
      case 6:
        extents_[5] = other.extents_[5];
        [[fallthrough]];
      case 5:
        extents_[4] = other.extents_[4];
        [[fallthrough]];
      case 4:
        extents_[3] = other.extents_[3];
        [[fallthrough]];
      case 3:
        extents_[2] = other.extents_[2];
        [[fallthrough]];
      case 2:
        extents_[1] = other.extents_[1];
        [[fallthrough]];
      case 1:
        extents_[0] = other.extents_[0];
        break;
      default:
        break;
    }
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  std::array<std::int64_t, kMaxRank> extents_;  // beyond rank_: anything
  std::int32_t rank_ = 0;
};

/// "[2, 3]"
NEAP_API std::string format_shape(const Shape& shape);
NEAP_API std::ostream& operator<<(std::ostream& out, const Shape& shape);

namespace base {

/// Strides, in elements, of a dense row-major array. THROWS: ShapeError on
/// overflow, but never for an array without elements.
NEAP_API Shape row_major_strides(const Shape& shape);

/// NumPy's rule. THROWS: ShapeError naming `op` and both shapes.
NEAP_API Shape broadcast(std::string_view op, const Shape& a, const Shape& b);

/// True when `from` broadcasts to exactly `to`.
NEAP_API bool broadcasts_to(const Shape& from, const Shape& to) noexcept;

/// Brings an axis counted from the end (-1: last) into [0, rank).
/// THROWS: ShapeError naming `op`.
NEAP_API int normalize_axis(std::string_view op, std::int64_t axis, int rank);

}  // namespace base
}  // namespace neap
