// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/argmax.hpp"

#include <algorithm>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/reduce_kernels.hpp"
#include "neap/kernels/reduction/reduce_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reduction/argmax.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduction/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// x before best, with NaN before all numbers and no NaN before another.
template <bool kIsMax, class T>
HWY_INLINE bool is_ahead(T x, T best) {
  const bool wins = kIsMax ? x > best : x < best;
  return wins || (x != x && best == best);
}

template <bool kIsMax, class D, class V>
HWY_INLINE hn::Mask<D> is_ahead(D, V x, V best) {
  const auto loses = kIsMax ? hn::Le(x, best) : hn::Ge(x, best);
  return hn::Not(hn::Or(loses, hn::IsNaN(best)));
}

template <class T>
struct Found {
  T value;
  std::int64_t at;  // in the block, then in the list
};

// The first index at which x equals `value`, or is NaN where that is.
template <class T>
std::int64_t position_of(T value, const T* x, std::int64_t size) {
  const hn::ScalableTag<T> d;
  const auto wanted = hn::Set(d, value);
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(size);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    const auto is_it = value == value ? hn::Eq(v, wanted) : hn::IsNaN(v);
    const std::intptr_t first = hn::FindFirstTrue(d, is_it);
    if (first >= 0) {
      return static_cast<std::int64_t>(i) + first;
    }
  }
  while (i + 1 < count && x[i] != value && (value == value || x[i] == x[i])) {
    ++i;
  }
  return static_cast<std::int64_t>(i);
}

// Common base of searches in rows and columns of floats and integers.
template <class T, bool kIsMax>
struct Search {
  using In = T;
  using State = Found<T>;
  static constexpr std::int64_t kBlockRows = kReduceBlock;

  static State neutral() { return {T(), 0}; }
  static void join(State& total, const State& part, double before, double) {
    const bool is_first = before == 0.0;
    if (is_first || is_ahead<kIsMax>(part.value, total.value)) {
      total = {part.value, part.at + static_cast<std::int64_t>(before)};
    }
  }
  static void finish(const State* totals, std::int64_t count,
                     const ReduceFinish& finish) {
    for (std::int64_t i = 0; i < count; ++i) {
      finish.at<std::int64_t>(0)[i] = totals[i].at;
    }
  }
};

template <class T, bool kIsMax>
struct FloatSearch : Search<T, kIsMax> {
  using State = Found<T>;

  static State row(const T* x, std::int64_t count) {
    const T value =
        reduce_plain_block<ExtremeVectors<kIsMax>>(Same(), x, count);
    return {value, position_of(value, x, count)};
  }

  // Rows of a block number fewer than what a float holds exactly.
  static void columns(const Tile& tile, State* parts) {
    const hn::ScalableTag<T> d;
    HWY_ALIGN T values[kReduceColumns];
    HWY_ALIGN T rows[kReduceColumns];
    const auto columns = static_cast<std::size_t>(tile.columns);
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      const T* x = tile.row<T>(r);
      const auto row = constant(d, static_cast<double>(r));
      for (std::size_t c = 0; c < columns; c += hn::Lanes(d)) {
        const std::size_t rest = columns - c;
        const auto v = rest >= hn::Lanes(d) ? hn::LoadU(d, x + c)
                                            : load_some_as(d, x + c, rest);
        const auto best = r == 0 ? v : hn::Load(d, values + c);
        const auto at = r == 0 ? row : hn::Load(d, rows + c);
        const auto ahead = is_ahead<kIsMax>(d, v, best);
        hn::Store(hn::IfThenElse(ahead, v, best), d, values + c);
        hn::Store(hn::IfThenElse(ahead, row, at), d, rows + c);
      }
    }
    for (std::size_t c = 0; c < columns; ++c) {
      parts[c] = {values[c], static_cast<std::int64_t>(rows[c])};
    }
  }
};

template <class T, bool kIsMax>
struct IntegerSearch : Search<T, kIsMax> {
  using State = Found<T>;

  static State row(const T* x, std::int64_t count) {
    const T* found = kIsMax ? std::max_element(x, x + count)
                            : std::min_element(x, x + count);
    return {*found, found - x};
  }
  static void columns(const Tile& tile, State* parts) {
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      const T* x = tile.row<T>(r);
      for (std::int64_t c = 0; c < tile.columns; ++c) {
        if (r == 0 || is_ahead<kIsMax>(x[c], parts[c].value)) {
          parts[c] = {x[c], r};
        }
      }
    }
  }
};

template <class T>
using ByteFor = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
template <class T>
using LargestFloat = FloatSearch<T, true>;
template <class T>
using SmallestFloat = FloatSearch<T, false>;
template <class T>
using LargestInteger = IntegerSearch<ByteFor<T>, true>;
template <class T>
using SmallestInteger = IntegerSearch<ByteFor<T>, false>;

}  // namespace

Reduction argmax_of(DType dtype) {
  return reduction_by_dtype<LargestFloat, LargestInteger>(dtype);
}

Reduction argmin_of(DType dtype) {
  return reduction_by_dtype<SmallestFloat, SmallestInteger>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(argmax_of);
HWY_EXPORT(argmin_of);

template <bool kIsMax>
struct ArgExtreme : OverAxes {
  static Reduction reduction(const Args& args) {
    const DType dtype = args.in[0].dtype;
    return kIsMax ? HWY_DYNAMIC_DISPATCH(argmax_of)(dtype)
                  : HWY_DYNAMIC_DISPATCH(argmin_of)(dtype);
  }
  template <class T>
  static void reference(const Args& args) noexcept {
    for_each_list<T>(
        args, axes(args),
        [&](const T* x, std::int64_t place, const detail::AxesOf& list) {
          std::int64_t best = 0;
          for (std::int64_t i = 1; i < list.count(); ++i) {
            const T a = x[list.offset(i)];
            const T b = x[list.offset(best)];
            const bool wins = kIsMax ? a > b : a < b;
            best = wins || (a != a && b == b) ? i : best;
          }
          args.out[0].as<std::int64_t>()[place] = best;
        });
  }
};

}  // namespace

constinit const KernelList argmax_kernels{
    "argmax", kReductions<"argmax", ArgExtreme<true>>};
constinit const KernelList argmin_kernels{
    "argmin", kReductions<"argmin", ArgExtreme<false>>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
