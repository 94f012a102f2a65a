// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/solve.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/linalg/matrices.hpp"
#include "neap/kernels/linalg/small_matrix.hpp"

namespace neap::kernels {
namespace {

// A part's share of the scratch: a copy of the matrix, then its row numbers.
template <class T>
constexpr Bytes share_bytes(std::int64_t n) noexcept {
  constexpr Bytes kAlign = 64;
  const Bytes bytes = n * n * static_cast<Bytes>(sizeof(T)) +
                      n * static_cast<Bytes>(sizeof(std::int32_t));
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

template <class T>
Bytes scratch(const Args& args) noexcept {
  const Shape& shape = args.in[0].shape;
  const Shape& out = args.out[0].shape;
  const std::int64_t n = shape.back(1);
  const bool has_columns = args.in.size() > 1;  // solve broadcasts
  const std::int64_t count =
      without_matrix(has_columns ? out : shape).element_count();
  return matrix_parts(args, n == 0 ? 0 : count, n) * share_bytes<T>(n);
}

template <class T>
struct Factors {
  T* lu;
  std::int32_t* rows;

  Factors(std::byte* share, std::int64_t n) noexcept
      : lu(reinterpret_cast<T*>(share)),
        rows(reinterpret_cast<std::int32_t*>(lu + n * n)) {}
};

// x = a^-1 x by the factors, for rows of x in the order of PA.
template <class T>
void solve_factored(const MatrixFunctions<T>& functions, std::int64_t n,
                    std::int64_t columns, const Factors<T>& factors,
                    T* x) noexcept {
  const Columns<T> rows{x, columns, columns};
  Triangle<T> factor{factors.lu, n, n, 1, true};
  solve_triangle(functions, factor, false, rows);
  factor.has_ones = false;
  solve_triangle(functions, factor, true, rows);
}

template <class T>
void solve_by(const MatrixFunctions<T>& functions, const Args& args) noexcept {
  const Shape leading = without_matrix(args.out[0].shape);
  const Matrices a(args.in[0], leading);
  const Matrices b(args.in[1], leading);
  const Matrices x(args.out[0], leading);
  const std::int64_t n = a.rows();
  const std::int64_t columns = x.columns();
  if (n * columns == 0) {
    return;
  }
  for_matrices(args, x.count(), n, [&](std::int64_t i, auto* share) noexcept {
    const Factors<T> factors(share, n);
    T* to = x.at<T>(i);
    a.read(i, factors.lu);
    if (!functions.lu(n, factors.lu, factors.rows)) {
      fill_nan(to, n * columns);
      return;
    }
    const T* from = b.at<const T>(i);
    for (std::int64_t row = 0; row < n; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        to[row * columns + column] = from[factors.rows[row] * b.row_stride() +
                                          column * b.column_stride()];
      }
    }
    solve_factored(functions, n, columns, factors, to);
  });
}

template <class T>
void invert_by(const MatrixFunctions<T>& functions, const Args& args) noexcept {
  const Shape leading = without_matrix(args.out[0].shape);
  const Matrices a(args.in[0], leading);
  const Matrices y(args.out[0], leading);
  const std::int64_t n = a.rows();
  if (n == 0) {
    return;
  }
  for_matrices(args, y.count(), n, [&](std::int64_t i, auto* share) noexcept {
    const Factors<T> factors(share, n);
    T* to = y.at<T>(i);
    a.read(i, factors.lu);
    if (!functions.lu(n, factors.lu, factors.rows)) {
      fill_nan(to, n * n);
      return;
    }
    std::fill(to, to + n * n, T(0));
    for (std::int64_t row = 0; row < n; ++row) {
      to[row * n + factors.rows[row]] = T(1);
    }
    solve_factored(functions, n, n, factors, to);
  });
}

// -1 for an odd permutation, else 1. Leaves it sorted.
inline double sort_sign(std::int64_t n, std::int32_t* rows) noexcept {
  double sign = 1.0;
  for (std::int64_t i = 0; i < n; ++i) {
    while (rows[i] != i) {
      std::swap(rows[i], rows[rows[i]]);
      sign = -sign;
    }
  }
  return sign;
}

template <class T>
bool has_nan(std::int64_t n, const Matrices& a, std::int64_t matrix) noexcept {
  const T* from = a.at<const T>(matrix);
  for (std::int64_t i = 0; i < n * n; ++i) {
    if (std::isnan(from[i / n * a.row_stride() + i % n * a.column_stride()])) {
      return true;
    }
  }
  return false;
}

// Calls put(i, sign, add) for each matrix, sign being that of its permutation
// (0 where it is singular, NaN with a NaN) and add(f) calling f with each
// element of U's diagonal.
template <class T, class Put>
void for_pivots(const MatrixFunctions<T>& functions, const Args& args,
                const Put& put) noexcept {
  const Shape leading = without_matrix(args.in[0].shape);
  const Matrices a(args.in[0], leading);
  const std::int64_t n = a.rows();
  for_matrices(args, a.count(), n, [&](std::int64_t i, auto* share) noexcept {
    const Factors<T> factors(share, n);
    double sign = 1.0;
    if (n > 0) {
      a.read(i, factors.lu);
      const bool is_regular = functions.lu(n, factors.lu, factors.rows);
      sign = is_regular            ? sort_sign(n, factors.rows)
             : has_nan<T>(n, a, i) ? std::numeric_limits<double>::quiet_NaN()
                                   : 0.0;
    }
    put(i, sign, [&](const auto& f) {
      for (std::int64_t k = 0; sign * sign == 1.0 && k < n; ++k) {
        f(static_cast<double>(factors.lu[k * n + k]));
      }
    });
  });
}

template <class T>
void det_by(const MatrixFunctions<T>& functions, const Args& args) noexcept {
  T* y = args.out[0].as<T>();
  for_pivots(functions, args,
             [y](std::int64_t i, double sign, const auto& add) {
               double product = sign;
               add([&](double pivot) { product *= pivot; });
               y[i] = static_cast<T>(product);
             });
}

template <class T>
void slogdet_by(const MatrixFunctions<T>& functions,
                const Args& args) noexcept {
  T* signs = args.out[0].as<T>();
  T* logs = args.out[1].as<T>();
  for_pivots(
      functions, args, [=](std::int64_t i, double sign, const auto& add) {
        double log =
            sign == 0.0 ? -std::numeric_limits<double>::infinity() : sign * 0.0;
        add([&](double pivot) {
          log += std::log(std::abs(pivot));
          sign = pivot < 0.0 ? -sign : sign;
        });
        signs[i] = static_cast<T>(sign);
        logs[i] = static_cast<T>(log);
      });
}

// The textbook's loops.
template <class T>
bool plain_lu(std::int64_t n, T* a, std::int32_t* rows) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    rows[i] = static_cast<std::int32_t>(i);
  }
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      pivot = std::abs(a[i * n + k]) > std::abs(a[pivot * n + k]) ? i : pivot;
    }
    if (!(std::abs(a[pivot * n + k]) > T(0))) {
      return false;
    }
    std::swap(rows[k], rows[pivot]);
    for (std::int64_t j = 0; j < n; ++j) {
      std::swap(a[k * n + j], a[pivot * n + j]);
    }
    for (std::int64_t i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) {
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
      }
    }
  }
  return true;
}

template <class T>
void plain_lower(const Triangle<T>& l, const Columns<T>& x) noexcept {
  const auto of_l = [&](std::int64_t i, std::int64_t j) {
    return l.data[i * l.row_stride + j * l.column_stride];
  };
  for (std::int64_t i = 0; i < l.n; ++i) {
    for (std::int64_t column = 0; column < x.count; ++column) {
      T& place = x.data[i * x.stride + column];
      T sum = place;
      for (std::int64_t j = 0; j < i; ++j) {
        sum -= of_l(i, j) * x.data[j * x.stride + column];
      }
      place = l.has_ones ? sum : sum / of_l(i, i);
    }
  }
}

template <class T>
using By = void (*)(const MatrixFunctions<T>&, const Args&) noexcept;

template <class T, By<T> kBy>
void fast(const Args& args) noexcept {
  kBy(matrix_functions<T>(), args);
}

template <class T, By<T> kBy>
void plain(const Args& args) noexcept {
  kBy({plain_lu<T>, nullptr, plain_lower<T>}, args);
}

template <class T, By<T> kBy>
constexpr Kernel fast_kernel(const char* name, DType dtype) noexcept {
  return {
      .name = name, .dtype = dtype, .run = fast<T, kBy>, .scratch = scratch<T>};
}

template <class T, By<T> kBy>
constexpr Kernel plain_kernel(const char* name, DType dtype) noexcept {
  return {.name = name,
          .dtype = dtype,
          .run = plain<T, kBy>,
          .scratch = scratch<T>};
}

constexpr std::array kSolve{
    fast_kernel<float, solve_by<float>>("solve.f32", f32),
    fast_kernel<double, solve_by<double>>("solve.f64", f64),
    plain_kernel<float, solve_by<float>>("solve.reference.f32", f32),
    plain_kernel<double, solve_by<double>>("solve.reference.f64", f64),
};

constexpr std::array kInverse{
    fast_kernel<float, invert_by<float>>("inverse.f32", f32),
    fast_kernel<double, invert_by<double>>("inverse.f64", f64),
    plain_kernel<float, invert_by<float>>("inverse.reference.f32", f32),
    plain_kernel<double, invert_by<double>>("inverse.reference.f64", f64),
};

constexpr std::array kDet{
    fast_kernel<float, det_by<float>>("det.f32", f32),
    fast_kernel<double, det_by<double>>("det.f64", f64),
    plain_kernel<float, det_by<float>>("det.reference.f32", f32),
    plain_kernel<double, det_by<double>>("det.reference.f64", f64),
};

constexpr std::array kSlogdet{
    fast_kernel<float, slogdet_by<float>>("slogdet.f32", f32),
    fast_kernel<double, slogdet_by<double>>("slogdet.f64", f64),
    plain_kernel<float, slogdet_by<float>>("slogdet.reference.f32", f32),
    plain_kernel<double, slogdet_by<double>>("slogdet.reference.f64", f64),
};

}  // namespace

constinit const KernelList solve_kernels{"solve", kSolve};
constinit const KernelList inverse_kernels{"inverse", kInverse};
constinit const KernelList det_kernels{"det", kDet};
constinit const KernelList slogdet_kernels{"slogdet", kSlogdet};

}  // namespace neap::kernels
