// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tables of linear algebra: matrices that are far from singular, made
// of any numbers, and plain elimination in double.
#pragma once

#include <cmath>
#include <utility>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/linalg/triangle.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

/// The identity in x's place, dtype and space.
inline Tensor identity_like(const Tensor& x) {
  return tril(triu(add(mul(x.detach(), 0.0), 1.0)));
}

/// 0.3 x + 2 I, for |x| <= 1 and few rows far from singular.
inline Tensor regular(const Tensor& x) {
  const Tensor identity = identity_like(x);  // before x may be donated
  return add(mul(x, 0.3), mul(identity, 2.0));
}

/// x x^T + I
inline Tensor positive_definite(const Tensor& x) {
  return add(matmul(x, transpose(x)), identity_like(x));
}

/// Square matrices as numbers.
struct HostMatrices {
  explicit HostMatrices(HostArray array)
      : n(array.shape.back()),
        count(n == 0
                  ? 0
                  : static_cast<std::int64_t>(array.values.size()) / (n * n)),
        values(std::move(array.values)) {}

  double& at(std::int64_t matrix, std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>((matrix * n + i) * n + j)];
  }

  std::int64_t n;
  std::int64_t count;
  std::vector<double> values;
};

inline HostMatrices regular(const HostArray& x) {
  HostMatrices a(x);
  for (double& value : a.values) {
    value *= 0.3;
  }
  for (std::int64_t m = 0; m < a.count; ++m) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      a.at(m, i, i) += 2.0;
    }
  }
  return a;
}

inline HostMatrices positive_definite(const HostArray& array) {
  HostMatrices x(array);
  HostMatrices a(array);
  for (std::int64_t m = 0; m < a.count; ++m) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      for (std::int64_t j = 0; j < a.n; ++j) {
        a.at(m, i, j) = i == j ? 1.0 : 0.0;
        for (std::int64_t k = 0; k < a.n; ++k) {
          a.at(m, i, j) += x.at(m, i, k) * x.at(m, j, k);
        }
      }
    }
  }
  return a;
}

/// Eliminates one matrix of `a` (which needs no pivots), and does the same to
/// the n rows of `columns` numbers at `b`. RETURNS: the determinant.
inline double eliminate(HostMatrices& a, std::int64_t matrix,
                        std::int64_t columns, double* b) {
  double det = 1.0;
  for (std::int64_t k = 0; k < a.n; ++k) {
    const double pivot = a.at(matrix, k, k);
    det *= pivot;
    for (std::int64_t i = 0; i < a.n; ++i) {
      const double factor = i == k ? 0.0 : a.at(matrix, i, k) / pivot;
      for (std::int64_t j = 0; j < a.n; ++j) {
        a.at(matrix, i, j) -= factor * a.at(matrix, k, j);
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        b[i * columns + j] -= factor * b[k * columns + j];
      }
    }
  }
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      b[i * columns + j] /= a.at(matrix, i, i);
    }
  }
  return det;
}

/// a^-1 b for as many b of n rows of `columns` as there are values; the a are
/// used in turn.
inline std::vector<double> solved(HostMatrices a, std::vector<double> b,
                                  std::int64_t columns) {
  const std::int64_t each = a.n * columns;
  const auto count = each == 0 ? 0 : static_cast<std::int64_t>(b.size()) / each;
  for (std::int64_t i = 0; i < count; ++i) {
    HostMatrices fresh = a;
    eliminate(fresh, i % a.count, columns, b.data() + i * each);
  }
  return b;
}

inline std::vector<double> determinants(HostMatrices a) {
  std::vector<double> out;
  for (std::int64_t m = 0; m < a.count; ++m) {
    out.push_back(eliminate(a, m, 0, nullptr));
  }
  return out;
}

}  // namespace neap::testing
