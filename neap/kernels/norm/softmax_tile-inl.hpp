// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Short rows, as many side by side as a vector has lanes: lane r is row r, and
// vector j holds element j of every row. Each lane does what softmax-inl.hpp
// does for a row alone, in the same order, so that the bits are the same.
//
//            row 0   row 1   row 2  ..
//   at(0)    x[0,0]  x[1,0]  x[2,0]
//   at(1)    x[0,1]  x[1,1]  x[2,1]     one vector an element
#if defined(NEAP_KERNELS_SOFTMAX_TILE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_SOFTMAX_TILE_INL_HPP_
#undef NEAP_KERNELS_SOFTMAX_TILE_INL_HPP_
#else
#define NEAP_KERNELS_SOFTMAX_TILE_INL_HPP_
#endif

#include <cstring>

#include "neap/kernels/norm/softmax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
class Tile {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t kRows = hn::MaxLanes(D());

  /// Whether rows are short enough; longer where their elements are apart in
  /// memory, which a row alone would have to be gathered from.
  static bool takes(const Rows& rows) {
    return rows.length() <= (rows.stride() == 1 ? kMaxDense : kMaxLength);
  }

  /// REQUIRES: takes(rows).
  explicit Tile(const Rows& rows) : length_(rows.length()) {
    std::memset(data_, 0,
                static_cast<std::size_t>(length_ * kRows) * sizeof(T));
  }

  std::int64_t length() const { return length_; }
  T* at(std::int64_t j) { return data_ + j * kRows; }
  HWY_INLINE V get(std::int64_t j) { return hn::Load(D(), at(j)); }

  /// Rows first, ..; what further lanes hold does not matter.
  void load(const Rows& rows, std::int64_t first, std::int64_t count) {
    if (rows.are_adjacent(first, count)) {
      const T* from = rows.at<const T>(first);
      for (std::int64_t j = 0; j < length_; ++j) {
        std::memcpy(at(j), from + j * rows.stride(),
                    static_cast<std::size_t>(count) * sizeof(T));
      }
      return;
    }
    for (std::int64_t r = 0; r < count; ++r) {
      const T* row = rows.at<const T>(first + r);
      for (std::int64_t j = 0; j < length_; ++j) {
        at(j)[r] = row[j * rows.stride()];
      }
    }
  }
  void store(const Rows& rows, std::int64_t first, std::int64_t count) {
    if (rows.are_adjacent(first, count)) {
      T* to = rows.at<T>(first);
      for (std::int64_t j = 0; j < length_; ++j) {
        std::memcpy(to + j * rows.stride(), at(j),
                    static_cast<std::size_t>(count) * sizeof(T));
      }
      return;
    }
    for (std::int64_t r = 0; r < count; ++r) {
      T* row = rows.at<T>(first + r);
      for (std::int64_t j = 0; j < length_; ++j) {
        row[j * rows.stride()] = at(j)[r];
      }
    }
  }

 private:
  static constexpr std::int64_t kMaxDense = 48;
  static constexpr std::int64_t kMaxLength = 128;
  static_assert(kMaxLength <= kReduceBlock, "a sum is of one block");

  std::int64_t length_;
  alignas(64) T data_[kMaxLength * kRows];
};

/// out[j] = op(in[j]...), lane by lane; out may be one of them.
template <class T, class Op, class... In>
HWY_INLINE void map_tile(const Op& op, Tile<T>& out, In&... in) {
  const hn::ScalableTag<T> d;
  for (std::int64_t j = 0; j < out.length(); ++j) {
    hn::Store(op(d, in.get(j)...), d, out.at(j));
  }
}

/// The sum over each row of map(in[j]...).
template <class T, class Map, class... In>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> sum_of_tile(const Map& map,
                                                   Tile<T>& first,
                                                   In&... more) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V partials[kSoftmaxPartials];
  for (V& partial : partials) {
    partial = hn::Zero(d);
  }
  for (std::int64_t j = 0; j < first.length(); ++j) {
    V& partial = partials[static_cast<std::size_t>(j) % kSoftmaxPartials];
    partial = hn::Add(partial, map(d, first.get(j), more.get(j)...));
  }
  for (std::size_t half = kSoftmaxPartials / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      partials[i] = hn::Add(partials[i], partials[i + half]);
    }
  }
  return partials[0];
}

template <class T>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> largest_of_tile(Tile<T>& in) {
  const hn::ScalableTag<T> d;
  auto m = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (std::int64_t j = 0; j < in.length(); ++j) {
    m = hn::Max(in.get(j), m);
  }
  return m;
}

/// Calls body(first, count) for the tiles of rows [begin, end).
template <class T, class Body>
HWY_INLINE void for_each_tile(std::int64_t begin, std::int64_t end,
                              const Body& body) {
  for (std::int64_t first = begin; first < end; first += Tile<T>::kRows) {
    body(first, std::min(Tile<T>::kRows, end - first));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
