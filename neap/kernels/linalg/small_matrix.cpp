// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/small_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/linalg/small_matrix.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kBlock = 32;  // rows and columns factored at a time

// An operand whose elements are read one by one.
template <class T>
struct Scalars {
  const T* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

// Dense rows, `stride` apart.
template <class T>
struct DenseRows {
  T* data;
  std::int64_t stride;
};

// c -= a b for kRows rows of c and kVectors vectors of columns (`valid` columns
// where kVectors is 1): c is loaded once and takes the k products in order.
template <std::size_t kRows, std::size_t kVectors, class T>
HWY_INLINE void sub_tile(std::int64_t k, Scalars<T> a, DenseRows<const T> b,
                         DenseRows<T> c, std::size_t valid) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const auto load = [&](const T* from) HWY_ATTR {
    return kVectors > 1 || valid == lanes ? hn::LoadU(d, from)
                                          : load_some(d, from, valid);
  };
  V sums[kRows][kVectors];
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[i][v] = load(c.data + static_cast<std::int64_t>(i) * c.stride +
                        static_cast<std::int64_t>(v * lanes));
    }
  }
  for (std::int64_t p = 0; p < k; ++p) {
    V row[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      row[v] =
          load(b.data + p * b.stride + static_cast<std::int64_t>(v * lanes));
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      const V factor =
          hn::Set(d, a.data[static_cast<std::int64_t>(i) * a.row_stride +
                            p * a.column_stride]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[i][v] = hn::NegMulAdd(factor, row[v], sums[i][v]);
      }
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      T* to = c.data + static_cast<std::int64_t>(i) * c.stride +
              static_cast<std::int64_t>(v * lanes);
      if (kVectors > 1 || valid == lanes) {
        hn::StoreU(sums[i][v], d, to);
      } else {
        store_some(d, sums[i][v], to, valid);
      }
    }
  }
}

template <std::size_t kRows, class T>
HWY_INLINE void sub_rows(std::int64_t n, std::int64_t k, Scalars<T> a,
                         DenseRows<const T> b, DenseRows<T> c) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t j = 0;
  const auto at = [&](std::int64_t column) {
    return std::pair{DenseRows<const T>{b.data + column, b.stride},
                     DenseRows<T>{c.data + column, c.stride}};
  };
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    const auto [from, to] = at(j);
    sub_tile<kRows, 2>(k, a, from, to, hn::Lanes(d));
  }
  for (; j < n; j += lanes) {
    const auto [from, to] = at(j);
    sub_tile<kRows, 1>(k, a, from, to,
                       static_cast<std::size_t>(std::min(lanes, n - j)));
  }
}

// c (m, n) -= a (m, k) b (k, n)
template <class T>
void sub_product(std::int64_t m, std::int64_t n, std::int64_t k, Scalars<T> a,
                 DenseRows<const T> b, DenseRows<T> c) {
  constexpr std::int64_t kTile = 4;
  for (std::int64_t i = 0; i < m;) {
    const std::int64_t rows = i + kTile <= m ? kTile : 1;
    if (rows == kTile) {
      sub_rows<kTile>(n, k, a, b, c);
    } else {
      sub_rows<1>(n, k, a, b, c);
    }
    i += rows;
    a.data += rows * a.row_stride;
    c.data += rows * c.stride;
  }
}

template <class T>
struct Divide {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(x, hn::Set(d, divisor));
  }
  T divisor;
};

template <class T>
void divide(T* row, std::int64_t count, T divisor) {
  map_arrays(Divide<T>{divisor}, count, row, static_cast<const T*>(row));
}

template <class T>
void lower(const Triangle<T>& l, const Columns<T>& x) {
  const auto row_of_x = [&](std::int64_t i) {
    return DenseRows<T>{x.data + i * x.stride, x.stride};
  };
  const auto subtract = [&](std::int64_t i, std::int64_t m, std::int64_t from,
                            std::int64_t k) {
    const T* part = l.data + i * l.row_stride + from * l.column_stride;
    const DenseRows<T> known = row_of_x(from);
    sub_product<T>(m, x.count, k, {part, l.row_stride, l.column_stride},
                   {known.data, known.stride}, row_of_x(i));
  };
  for (std::int64_t block = 0; block < l.n; block += kBlock) {
    const std::int64_t end = std::min(block + kBlock, l.n);
    subtract(block, end - block, 0, block);
    for (std::int64_t i = block; i < end; ++i) {
      subtract(i, 1, block, i - block);
      if (!l.has_ones) {
        divide(row_of_x(i).data, x.count,
               l.data[i * (l.row_stride + l.column_stride)]);
      }
    }
  }
}

// Factors the columns [first, last) below and on the diagonal.
template <class T>
bool lu_panel(std::int64_t n, std::int64_t first, std::int64_t last, T* a,
              std::int32_t* rows) {
  for (std::int64_t k = first; k < last; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) {
        pivot = i;
      }
    }
    const T value = a[pivot * n + k];
    if (!(std::abs(value) > T(0))) {
      return false;
    }
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + k * n + n, a + pivot * n);
      std::swap(rows[k], rows[pivot]);
    }
    for (std::int64_t i = k + 1; i < n; ++i) {
      a[i * n + k] /= value;
    }
    T* below = a + (k + 1) * n + k;
    sub_product<T>(n - k - 1, last - k - 1, 1, {below, n, 1},
                   {a + k * n + k + 1, n}, {below + 1, n});
  }
  return true;
}

template <class T>
bool lu(std::int64_t n, T* a, std::int32_t* rows) {
  std::iota(rows, rows + n, 0);
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t last = std::min(first + kBlock, n);
    if (!lu_panel(n, first, last, a, rows)) {
      return false;
    }
    T* right = a + first * n + last;  // of the factored rows
    lower<T>({a + first * n + first, last - first, n, 1, true},
             {right, n - last, n});
    T* below = a + last * n + first;
    sub_product<T>(n - last, n - last, last - first, {below, n, 1}, {right, n},
                   {below + (last - first), n});
  }
  return true;
}

// Factors rows [first, last), which have taken the products of those before
// `first`.
template <class T>
bool cholesky_rows(std::int64_t n, std::int64_t first, std::int64_t last,
                   T* a) {
  for (std::int64_t k = first; k < last; ++k) {
    const T* above = a + first * n + k;
    T* row = a + k * n + k;
    sub_product<T>(1, n - k, k - first, {above, 1, n}, {above, n}, {row, n});
    const T pivot = *row;
    if (!(pivot > T(0))) {
      return false;
    }
    divide(row, n - k, std::sqrt(pivot));
  }
  return true;
}

template <class T>
bool cholesky(std::int64_t n, T* a) {
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t last = std::min(first + kBlock, n);
    if (!cholesky_rows(n, first, last, a)) {
      return false;
    }
    for (std::int64_t i = last; i < n; i += kBlock) {
      const T* above = a + first * n + i;
      sub_product<T>(std::min(kBlock, n - i), n - i, last - first,
                     {above, 1, n}, {above, n}, {a + i * n + i, n});
    }
  }
  return true;
}

}  // namespace

MatrixFunctions<float> matrix_functions_f32() {
  return {lu<float>, cholesky<float>, lower<float>};
}

MatrixFunctions<double> matrix_functions_f64() {
  return {lu<double>, cholesky<double>, lower<double>};
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(matrix_functions_f32);
HWY_EXPORT(matrix_functions_f64);

}  // namespace

template <>
MatrixFunctions<float> matrix_functions<float>() noexcept {
  return HWY_DYNAMIC_DISPATCH(matrix_functions_f32)();
}

template <>
MatrixFunctions<double> matrix_functions<double>() noexcept {
  return HWY_DYNAMIC_DISPATCH(matrix_functions_f64)();
}

}  // namespace neap::kernels
#endif  // HWY_ONCE
