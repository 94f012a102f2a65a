// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Blocks of a matrix times a vector or a few, one instruction set each;
// included by gemv.cpp alone.
//
// Where the matrix is dense along k, squares of it are turned in registers:
// lane i of column k holds element (i, k), for all vectors. Where it is dense
// along C, its rows are added to C, a few at a time, while C stays in the first
// cache.
//
// A matrix in bf16 is widened in registers. Where it is dense along k, a lane
// of its squares holds two neighbours along k: both are turned at once.
#if defined(NEAP_KERNELS_GEMV_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_GEMV_INL
#undef NEAP_KERNELS_GEMV_INL
#else
#define NEAP_KERNELS_GEMV_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "neap/base/dtype.hpp"
#include "neap/kernels/engine/turn-inl.hpp"
#include "neap/kernels/gemm/gemv_problem.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
inline constexpr bool kHasGemv = true;

// The relu of a tile: NaN for NaN.
template <class D, class V>
HWY_INLINE V ended(D d, V sum, bool ends_in_relu) {
  return ends_in_relu ? hn::IfThenZeroElse(hn::Le(sum, hn::Zero(d)), sum) : sum;
}

// Elements of a row that memory is asked for together, ahead of time: it gives
// long runs faster than lines of many rows in turn.
template <class T>
inline constexpr std::int64_t kRun = 512 / sizeof(T);

// Asks for the run after the one that begins at k.
template <class T>
HWY_INLINE void ask_ahead(const T* const* rows, std::size_t count,
                          std::int64_t k) {
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
  if (k % kRun<T> != 0) {
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::int64_t line = 0; line < kRun<T>; line += kLine) {
      __builtin_prefetch(rows[i] + k + kRun<T> + line, 0, 2);
    }
  }
}

// A square of `kCount` rows from column k on times as many elements of kX
// vectors; the first `rest` columns of it alone where it is not whole.
template <class T>
inline constexpr std::int64_t kColumns =
    static_cast<std::int64_t>(kCount<T>);  // of a square
template <bool kIsWhole, std::size_t kX, class T, class V>
HWY_INLINE void add_square(const GemvProblem<T>& p, const T* const* rows,
                           const T* x, std::int64_t k, std::size_t rest,
                           V* sums) {
  const Lanes<T> d;
  V row[kCount<T>];
  V column[kCount<T>];
  const auto first = hn::FirstN(d, rest);
  for (std::size_t i = 0; i < kCount<T>; ++i) {
    row[i] = kIsWhole ? hn::LoadU(d, rows[i] + k)
                      : hn::MaskedLoad(first, d, rows[i] + k);
  }
  turn(T(), row, column);
  x += k * p.x_stride;
  for (std::size_t j = 0; j < kCount<T> && (kIsWhole || j < rest); ++j) {
    for (std::size_t v = 0; v < kX; ++v) {
      const T element = x[static_cast<std::int64_t>(j) * p.x_stride +
                          static_cast<std::int64_t>(v) * p.x_step];
      sums[v] = hn::MulAdd(column[j], hn::Set(d, element), sums[v]);
    }
  }
}

// The same of bf16: a lane of a square has the elements of two columns, in the
// lower half that of the first.
using HalfProblem = GemvProblem<float, BFloat16>;
template <>
inline constexpr std::int64_t kColumns<BFloat16> =
    2 * static_cast<std::int64_t>(kCount<float>);

template <class V>
HWY_INLINE V lower_half(V pairs) {
  const hn::RebindToUnsigned<Lanes<float>> u;
  return hn::BitCast(Lanes<float>(), hn::ShiftLeft<16>(hn::BitCast(u, pairs)));
}

template <class V>
HWY_INLINE V upper_half(V pairs) {
  const hn::RebindToUnsigned<Lanes<float>> u;
  return hn::BitCast(Lanes<float>(),
                     hn::And(hn::BitCast(u, pairs), hn::Set(u, 0xFFFF0000U)));
}

template <bool kIsWhole, std::size_t kX, class V>
HWY_INLINE void add_square(const HalfProblem& p, const BFloat16* const* rows,
                           const float* x, std::int64_t k, std::size_t rest,
                           V* sums) {
  const Lanes<float> d;
  const hn::Repartition<std::uint16_t, Lanes<float>> halves;
  V row[kCount<float>];
  V column[kCount<float>];
  for (std::size_t i = 0; i < kCount<float>; ++i) {
    if constexpr (kIsWhole) {
      row[i] = hn::BitCast(d, hn::LoadU(halves, &rows[i][k].bits));
    } else {  // no instruction loads some 16-bit lanes alone everywhere
      HWY_ALIGN std::uint16_t there[kColumns<BFloat16>] = {};
      std::memcpy(there, rows[i] + k, rest * sizeof(BFloat16));
      row[i] = hn::BitCast(d, hn::Load(halves, there));
    }
  }
  turn(float(), row, column);
  x += k * p.x_stride;
  const auto add = [&](std::size_t j, V elements) HWY_ATTR {
    for (std::size_t v = 0; v < kX; ++v) {
      const float element = x[static_cast<std::int64_t>(j) * p.x_stride +
                              static_cast<std::int64_t>(v) * p.x_step];
      sums[v] = hn::MulAdd(elements, hn::Set(d, element), sums[v]);
    }
  };
  for (std::size_t j = 0; j < kCount<float>; ++j) {
    if (kIsWhole || 2 * j < rest) {
      add(2 * j, lower_half(column[j]));
    }
    if (kIsWhole || 2 * j + 1 < rest) {
      add(2 * j + 1, upper_half(column[j]));
    }
  }
}

// Sets `sums` to the values that the elements of a row of C, from `at` on,
// begin with.
template <class T, class Matrix>
HWY_INLINE void begin(const GemvProblem<T, Matrix>& p, const T* c,
                      std::int64_t at, std::int64_t count, T* sums) {
  for (std::int64_t i = 0; i < count; ++i) {
    sums[i] = p.start == GemmStart::kZero ? T(0)
              : p.start == GemmStart::kC  ? c[at + i]
                                          : p.bias[(at + i) * p.bias_stride];
  }
}

// kGroups vectors of each of kX rows of C from `at` on, of which `count`
// elements are there: the sums of one wait for each other, those of several do
// not. `vector`: the number of the first of the rows.
template <std::size_t kX, std::size_t kGroups, bool kIsFar, class T,
          class Matrix>
HWY_INLINE void some_dots(const GemvProblem<T, Matrix>& p, std::int64_t vector,
                          std::int64_t at, std::int64_t count) {
  const Lanes<T> d;
  using V = hn::Vec<Lanes<T>>;
  constexpr std::size_t kRows = kGroups * kCount<T>;
  const Matrix* rows[kRows];
  for (std::size_t i = 0; i < kRows; ++i) {
    // Lanes that are not there repeat the last one.
    const auto lane = std::min(static_cast<std::int64_t>(i), count - 1);
    rows[i] = p.matrix + (at + lane) * p.c_step;
  }
  const T* const x = p.x + vector * p.x_step;
  T* const c = p.c + vector * p.count;
  HWY_ALIGN T lanes[kRows] = {};
  V sum[kGroups][kX];
  for (std::size_t v = 0; v < kX; ++v) {
    begin(p, c + static_cast<std::int64_t>(v) * p.count, at, count, lanes);
    for (std::size_t g = 0; g < kGroups; ++g) {
      sum[g][v] = hn::Load(d, lanes + g * kCount<T>);
    }
  }
  constexpr std::int64_t kStep = kColumns<Matrix>;
  std::int64_t k = 0;
  for (; k + kStep <= p.k; k += kStep) {
    if constexpr (kIsFar) {
      ask_ahead(rows, kRows, k);
    }
    for (std::size_t g = 0; g < kGroups; ++g) {
      add_square<true, kX>(p, rows + g * kCount<T>, x, k, 0, sum[g]);
    }
  }
  if (k < p.k) {
    const auto rest = static_cast<std::size_t>(p.k - k);
    for (std::size_t g = 0; g < kGroups; ++g) {
      add_square<false, kX>(p, rows + g * kCount<T>, x, k, rest, sum[g]);
    }
  }
  for (std::size_t v = 0; v < kX; ++v) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      hn::Store(ended(d, sum[g][v], p.ends_in_relu), d, lanes + g * kCount<T>);
    }
    std::copy_n(lanes, count, c + static_cast<std::int64_t>(v) * p.count + at);
  }
}

template <class T, class Matrix>
void dots(const GemvProblem<T, Matrix>& p, std::int64_t at, std::int64_t end) {
  constexpr auto kOne = static_cast<std::int64_t>(kCount<T>);
  for (; is_far(p) && at + kOne <= end; at += kOne) {
    some_dots<1, 1, true>(p, 0, at, kOne);
  }
  for (; at + 2 * kOne <= end; at += 2 * kOne) {
    some_dots<1, 2, false>(p, 0, at, 2 * kOne);
  }
  for (; at < end; at += kOne) {
    some_dots<1, 1, false>(p, 0, at, std::min(kOne, end - at));
  }
}

// The same of several vectors: the first ones bring the rows into the cache,
// where the others find them.
template <class T, class Matrix>
void dots_of_few(const GemvProblem<T, Matrix>& p, std::int64_t at,
                 std::int64_t end) {
  constexpr auto kOne = static_cast<std::int64_t>(kCount<T>);
  for (; at < end; at += kOne) {
    const std::int64_t count = std::min(kOne, end - at);
    std::int64_t v = 0;
    if (v + 4 <= p.vectors) {
      some_dots<4, 1, true>(p, v, at, count);
      v += 4;
    }
    for (; v + 4 <= p.vectors; v += 4) {
      some_dots<4, 1, false>(p, v, at, count);
    }
    for (; v + 2 <= p.vectors; v += 2) {
      some_dots<2, 1, true>(p, v, at, count);
    }
    for (; v < p.vectors; ++v) {
      some_dots<1, 1, false>(p, v, at, count);
    }
  }
}

// A vector of elements, and the first of one: behind them zeros.
template <class D>
HWY_INLINE hn::Vec<D> elements_at(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> elements_at(D d, const BFloat16* from) {
  const hn::Rebind<std::uint16_t, D> narrow;
  const hn::RebindToUnsigned<D> wide;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(
                            wide, hn::LoadU(narrow, &from->bits))));
}
template <class D>
HWY_INLINE hn::Vec<D> first_elements(D d, std::size_t count,
                                     const hn::TFromD<D>* from) {
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> first_elements(D d, std::size_t count,
                                     const BFloat16* from) {
  BFloat16 there[hn::MaxLanes(d)] = {};
  std::memcpy(there, from, count * sizeof(BFloat16));
  return elements_at(d, there);
}

// c[i] += x[0] m[0][i] + x[1] m[1][i] + .. for kRows rows, `count` elements.
template <std::size_t kRows, class T, class Matrix>
HWY_INLINE void add_rows(const Matrix* matrix, std::int64_t step, const T* x,
                         std::int64_t x_stride, std::int64_t count, T* c) {
  const Lanes<T> d;
  using V = hn::Vec<Lanes<T>>;
  constexpr auto kStep = static_cast<std::int64_t>(kCount<T>);
  V factor[kRows];
  const Matrix* row[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto k = static_cast<std::int64_t>(r);
    factor[r] = hn::Set(d, x[k * x_stride]);
    row[r] = matrix + k * step;
  }
  std::int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    V sum = hn::LoadU(d, c + i);
    for (std::size_t r = 0; r < kRows; ++r) {
      sum = hn::MulAdd(elements_at(d, row[r] + i), factor[r], sum);
    }
    hn::StoreU(sum, d, c + i);
  }
  if (i < count) {
    const auto first = hn::FirstN(d, static_cast<std::size_t>(count - i));
    V sum = hn::MaskedLoad(first, d, c + i);
    for (std::size_t r = 0; r < kRows; ++r) {
      sum = hn::MulAdd(
          first_elements(d, static_cast<std::size_t>(count - i), row[r] + i),
          factor[r], sum);
    }
    hn::BlendedStore(sum, first, d, c + i);
  }
}

template <class T, class Matrix>
void rows(const GemvProblem<T, Matrix>& p, std::int64_t at, std::int64_t end) {
  const Lanes<T> d;
  constexpr std::int64_t kAtOnce = 4;                  // rows
  constexpr std::int64_t kStretch = 8192 / sizeof(T);  // of C, in the cache
  for (; at < end; at += kStretch) {
    const std::int64_t count = std::min(kStretch, end - at);
    T* c = p.c + at;
    begin(p, p.c, at, count, c);
    const Matrix* matrix = p.matrix + at;
    const T* x = p.x;
    std::int64_t k = 0;
    for (; k + kAtOnce <= p.k; k += kAtOnce) {
      add_rows<kAtOnce>(matrix + k * p.k_step, p.k_step, x + k * p.x_stride,
                        p.x_stride, count, c);
    }
    for (; k < p.k; ++k) {
      add_rows<1>(matrix + k * p.k_step, p.k_step, x + k * p.x_stride,
                  p.x_stride, count, c);
    }
    for (std::int64_t i = 0; p.ends_in_relu && i < count; ++i) {
      c[i] = hn::GetLane(ended(d, hn::Set(d, c[i]), true));
    }
  }
}

template <class T, class Matrix>
void part(const GemvProblem<T, Matrix>& p, std::int64_t begin,
          std::int64_t end) {
  if (p.vectors > 1) {
    dots_of_few(p, begin, end);
  } else if (p.c_step == 1) {
    rows(p, begin, end);
  } else {
    dots(p, begin, end);
  }
}

#else
inline constexpr bool kHasGemv = false;

template <class T, class Matrix>
void part(const GemvProblem<T, Matrix>& /*p*/, std::int64_t /*begin*/,
          std::int64_t /*end*/) {}
#endif

}  // namespace
}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
