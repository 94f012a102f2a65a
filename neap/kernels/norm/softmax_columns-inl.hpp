// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows whose elements lie apart in memory, but side by side with those of the
// next row: the columns of a matrix. Lane c is column c, and the loops go down
// a strip of neighbouring columns, so that memory is read along its lines. Each
// lane does what softmax-inl.hpp does for a row alone, in the same order, so
// that the bits are the same.
//
//             column 0   1   2  ..     a strip
//   element 0   x[0,0]  x[0,1]  x[0,2]     partial 0
//   element 1   x[1,0]  x[1,1]  x[1,2]     partial 1    .. of each column
#if defined(NEAP_KERNELS_SOFTMAX_COLUMNS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_SOFTMAX_COLUMNS_INL_HPP_
#undef NEAP_KERNELS_SOFTMAX_COLUMNS_INL_HPP_
#else
#define NEAP_KERNELS_SOFTMAX_COLUMNS_INL_HPP_
#endif

#include "neap/kernels/norm/softmax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// State of a strip of columns beside its elements: one number a column.
template <class T>
struct Strip {
  static constexpr std::int64_t kColumns = 128;

  /// Whether each vector would find enough columns in all of the views.
  template <class... More>
  static bool takes(const Rows& rows, const More&... more) {
    constexpr auto kLanes =
        static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
    const std::int64_t run =
        std::min({rows.adjacent_run(), more.adjacent_run()...});
    return rows.stride() != 1 && 4 * run >= kLanes;
  }

  std::int64_t length = 0;  // elements of a column
  std::size_t count = 0;    // columns
  alignas(64) T largest[kColumns];
  alignas(64) T sums[kColumns];
  alignas(64) double totals[kColumns];
  alignas(64) T partials[kSoftmaxPartials][kColumns];
};

/// The columns of one operand: element j of all of them at at(j).
template <class T>
struct Columns {
  T* first = nullptr;
  std::int64_t stride = 0;

  Columns(const Rows& rows, std::int64_t column)
      : first(rows.at<T>(column)), stride(rows.stride()) {}
  T* at(std::int64_t j) const { return first + j * stride; }
};

// Calls body(c, load, store) for the vectors of `count` columns from 0 on; the
// last may be cut short.
template <class D, class Body>
HWY_INLINE void for_each_vector(D d, std::size_t count, const Body& body) {
  using T = hn::TFromD<D>;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t c = 0;
  for (; c + lanes <= count; c += lanes) {
    body(
        c, [d](const T* x) HWY_ATTR { return hn::LoadU(d, x); },
        [d](hn::Vec<D> v, T* y) HWY_ATTR { hn::StoreU(v, d, y); });
  }
  if (const std::size_t rest = count - c; rest != 0) {
    body(
        c, [d, rest](const T* x) HWY_ATTR { return load_first(d, x, rest); },
        [d, rest](hn::Vec<D> v, T* y) HWY_ATTR { store_first(d, v, y, rest); });
  }
}

/// strip.largest: the largest element of each column.
template <class T>
HWY_INLINE void find_largest(Strip<T>& strip, const Columns<const T>& x) {
  const hn::ScalableTag<T> d;
  std::fill_n(strip.largest, Strip<T>::kColumns,
              -std::numeric_limits<T>::infinity());
  constexpr std::int64_t kGroup = 4;  // rows that share a load of the largest
  std::int64_t j = 0;
  for (; j + kGroup <= strip.length; j += kGroup) {
    for_each_vector(
        d, strip.count, [&](std::size_t c, auto load, auto /*store*/) HWY_ATTR {
          T* to = strip.largest + c;
          const auto a = hn::Max(load(x.at(j) + c), load(x.at(j + 1) + c));
          const auto b = hn::Max(load(x.at(j + 2) + c), load(x.at(j + 3) + c));
          hn::Store(hn::Max(hn::Max(a, b), hn::Load(d, to)), d, to);
        });
  }
  for (; j < strip.length; ++j) {
    for_each_vector(
        d, strip.count, [&](std::size_t c, auto load, auto /*store*/) HWY_ATTR {
          T* to = strip.largest + c;
          hn::Store(hn::Max(load(x.at(j) + c), hn::Load(d, to)), d, to);
        });
  }
}

// Joins the partials of a block of so many elements, and adds it to the totals.
// Partials that no element went to would change nothing: a sum that begins with
// 0 is never -0.
template <class T>
HWY_INLINE void join_block(Strip<T>& strip, std::int64_t elements,
                           bool is_first) {
  const hn::ScalableTag<T> d;
  const std::size_t used =
      std::min(kSoftmaxPartials, static_cast<std::size_t>(elements));
  for (std::size_t half = kSoftmaxPartials / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half && i + half < used; ++i) {
      for (std::size_t c = 0; c < strip.count; c += hn::Lanes(d)) {
        T* to = strip.partials[i] + c;
        hn::Store(
            hn::Add(hn::Load(d, to), hn::Load(d, strip.partials[i + half] + c)),
            d, to);
      }
    }
  }
  for (std::size_t c = 0; c < strip.count; ++c) {
    const auto part = static_cast<double>(strip.partials[0][c]);
    strip.totals[c] = (is_first ? 0.0 : strip.totals[c]) + part;
  }
}

/// strip.sums: the sum over each column of op_at(c)(in...); `see(row, c, v,
/// store)` is shown each vector that is added.
template <class T, class OpAt, class See, class... In>
HWY_INLINE void sum_columns(Strip<T>& strip, const OpAt& op_at, const See& see,
                            const In&... in) {
  const hn::ScalableTag<T> d;
  for_each_block(strip.length, [&](std::int64_t first,
                                   std::int64_t count) HWY_ATTR {
    for (std::int64_t j = 0; j < count; ++j) {
      const auto k = static_cast<std::size_t>(j);
      T* partial = strip.partials[k % kSoftmaxPartials];
      const bool is_new = k < kSoftmaxPartials;
      for_each_vector(
          d, strip.count, [&](std::size_t c, auto load, auto store) HWY_ATTR {
            const auto v = op_at(c)(d, load(in.at(first + j) + c)...);
            see(first + j, c, v, store);
            const auto before = is_new ? hn::Zero(d) : hn::Load(d, partial + c);
            hn::Store(hn::Add(before, v), d, partial + c);
          });
    }
    join_block(strip, count, first == 0);
  });
  for (std::size_t c = 0; c < strip.count; ++c) {
    strip.sums[c] = static_cast<T>(strip.totals[c]);
  }
}

/// y = op_at(c)(in...), element by element; y may be one of them.
template <class T, class OpAt, class... In>
HWY_INLINE void map_columns(const Strip<T>& strip, const OpAt& op_at,
                            const Columns<T>& y, const In&... in) {
  const hn::ScalableTag<T> d;
  for (std::int64_t j = 0; j < strip.length; ++j) {
    for_each_vector(d, strip.count,
                    [&](std::size_t c, auto load, auto store) HWY_ATTR {
                      store(op_at(c)(d, load(in.at(j) + c)...), y.at(j) + c);
                    });
  }
}

/// Calls body(first, count) for strips of the columns [begin, end), each of
/// which lies side by side in all of the views.
template <class T, class Body, class... More>
HWY_INLINE void for_each_strip(std::int64_t begin, std::int64_t end,
                               const Body& body, const More&... rows) {
  while (begin < end) {
    const std::int64_t count = std::min(
        {end - begin, Strip<T>::kColumns, rows.adjacent_from(begin)...});
    body(begin, count);
    begin += count;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
