// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <ostream>

#include "neap/base/raise.hpp"

namespace neap {

Shape::Shape(std::span<const std::int64_t> extents) {
  for (const std::int64_t extent : extents) {
    push_back(extent);
  }
}

Shape Shape::filled(int rank, std::int64_t extent) {
  Shape shape;
  if (rank > kMaxRank) {
    base::raise<ShapeError>("shape: more than {} axes", kMaxRank);
  }
  std::fill_n(shape.extents_.begin(), rank, extent);
  shape.rank_ = rank;
  return shape;
}

void Shape::push_back(std::int64_t extent) {
  insert(rank_, extent);
}

void Shape::insert(int axis, std::int64_t extent) {
  if (rank_ == kMaxRank) {
    base::raise<ShapeError>("shape: more than {} axes", kMaxRank);
  }
  auto at = extents_.begin() + axis;
  std::copy_backward(at, extents_.begin() + rank_,
                     extents_.begin() + rank_ + 1);
  *at = extent;
  ++rank_;
}

void Shape::erase(int axis) noexcept {
  auto at = extents_.begin() + axis;
  std::copy(at + 1, extents_.begin() + rank_, at);
  --rank_;
}

std::int64_t Shape::element_count() const {
  bool is_empty = false;
  bool overflows = false;
  std::int64_t count = 1;
  for (const std::int64_t extent : *this) {
    if (extent < 0) {
      base::raise<ShapeError>("shape: negative extent in {}",
                              format_shape(*this));
    }
    is_empty = is_empty || extent == 0;
    overflows = __builtin_mul_overflow(count, extent, &count) || overflows;
  }
  if (is_empty) {  // whatever the product of the others
    return 0;
  }
  if (overflows) {
    base::raise<ShapeError>("shape: the elements of {} overflow 64 bits",
                            format_shape(*this));
  }
  return count;
}

std::string format_shape(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

namespace base {

Shape row_major_strides(const Shape& shape) {
  Shape strides = Shape::filled(shape.rank(), 1);
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    const std::int64_t extent = std::max<std::int64_t>(shape[axis], 1);
    // Nobody takes a step in an empty array, so one too large may stand still.
    const bool is_held =
        is_empty && step > std::numeric_limits<std::int64_t>::max() / extent;
    step = is_held ? step : checked_mul(step, extent);
  }
  return strides;
}

Shape broadcast(std::string_view op, const Shape& a, const Shape& b) {
  if (a == b) {
    return a;
  }
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::filled(rank, 1);
  for (int from_end = 1; from_end <= rank; ++from_end) {
    const std::int64_t x = from_end <= a.rank() ? a.back(from_end) : 1;
    const std::int64_t y = from_end <= b.rank() ? b.back(from_end) : 1;
    if (x != y && x != 1 && y != 1) {
      raise<ShapeError>(
          "{}: shapes {} and {} do not broadcast (axis -{}: {} "
          "against {})",
          op, format_shape(a), format_shape(b), from_end, x, y);
    }
    out[rank - from_end] = x == 1 ? y : x;
  }
  return out;
}

bool broadcasts_to(const Shape& from, const Shape& to) noexcept {
  if (from.rank() > to.rank()) {
    return false;
  }
  for (int from_end = 1; from_end <= from.rank(); ++from_end) {
    const std::int64_t extent = from.back(from_end);
    if (extent != 1 && extent != to.back(from_end)) {
      return false;
    }
  }
  return true;
}

int normalize_axis(std::string_view op, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    raise<ShapeError>("{}: axis {} out of range for rank {}", op, axis, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace base

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << format_shape(shape);
}

}  // namespace neap
