// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/cholesky.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/linalg/matrices.hpp"
#include "neap/kernels/linalg/small_matrix.hpp"

namespace neap::kernels {
namespace {

// Dense (n, n): the upper triangle becomes that of the symmetric part. Halves
// are exact, so that a symmetric matrix stays as it is.
template <class T>
void make_symmetric(std::int64_t n, T* a) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      T& upper = a[j * n + i];
      upper = a[i * n + j] / T(2) + upper / T(2);
    }
  }
}

// The upper triangle goes below the diagonal, and zeros take its place.
template <class T>
void transpose_triangle(std::int64_t n, T* a) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = T(0);
    }
  }
}

// Calls factor(n, l) with the symmetric part of each matrix in the upper
// triangle of l; it puts U there, or returns false where there is none.
template <class T, class Factor>
void factor_all(const Args& args, const Factor& factor) noexcept {
  const Shape leading = without_matrix(args.in[0].shape);
  const Matrices a(args.in[0], leading);
  const Matrices l(args.out[0], leading);
  const std::int64_t n = a.rows();
  if (n == 0) {
    return;
  }
  for_matrices(args, a.count(), n,
               [&](std::int64_t i, const std::byte*) noexcept {
                 T* to = l.at<T>(i);
                 a.read(i, to);
                 make_symmetric(n, to);
                 if (factor(n, to)) {
                   transpose_triangle(n, to);
                 } else {
                   fill_nan(to, n * n);
                 }
               });
}

template <class T>
void cholesky(const Args& args) noexcept {
  factor_all<T>(args, matrix_functions<T>().cholesky);
}

// u[k][j] = (a[k][j] - sum over p < k of u[p][k] u[p][j]) / u[k][k]
template <class T>
bool plain_factor(std::int64_t n, T* a) noexcept {
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = k; j < n; ++j) {
      auto sum = static_cast<double>(a[k * n + j]);
      for (std::int64_t p = 0; p < k; ++p) {
        sum -= static_cast<double>(a[p * n + k]) *
               static_cast<double>(a[p * n + j]);
      }
      if (j == k && !(sum > 0.0)) {
        return false;
      }
      a[k * n + j] = static_cast<T>(
          j == k ? std::sqrt(sum) : sum / static_cast<double>(a[k * n + k]));
    }
  }
  return true;
}

template <class T>
void cholesky_reference(const Args& args) noexcept {
  factor_all<T>(args, plain_factor<T>);
}

constexpr std::array kKernels = float_rows<"cholesky">(
    {.run = cholesky<float>}, {.run = cholesky<double>},
    {cholesky_reference<float>}, {cholesky_reference<double>});

}  // namespace

constinit const KernelList cholesky_kernels{"cholesky", kKernels};

}  // namespace neap::kernels
