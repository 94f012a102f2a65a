// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/triangular_solve.hpp"

#include <array>
#include <utility>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/linalg/matrices.hpp"
#include "neap/kernels/linalg/small_matrix.hpp"

namespace neap::kernels {
namespace {

struct Operands {
  explicit Operands(const Args& args) noexcept
      : leading(without_matrix(args.out[0].shape)),
        a(args.in[0], leading),
        b(args.in[1], leading),
        x(args.out[0], leading) {}
  Shape leading;
  Matrices a;
  Matrices b;
  Matrices x;
};

template <class T>
void triangular_solve(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<TriangleAttrs>();
  const Operands operands(args);
  const Matrices& a = operands.a;
  const std::int64_t columns = operands.x.columns();
  if (operands.x.count() * a.rows() * columns == 0) {
    return;
  }
  Triangle<T> triangle{nullptr, a.rows(), a.row_stride(), a.column_stride(),
                       attrs.unit};
  if (attrs.transpose) {
    std::swap(triangle.row_stride, triangle.column_stride);
  }
  const MatrixFunctions<T> functions = matrix_functions<T>();
  for_matrices(args, a.count(), a.rows(),
               [&](std::int64_t i, const std::byte*) noexcept {
                 T* x = operands.x.at<T>(i);
                 operands.b.read(i, x);
                 Triangle<T> of_matrix = triangle;
                 of_matrix.data = a.at<const T>(i);
                 solve_triangle<T>(functions, of_matrix,
                                   attrs.upper != attrs.transpose,
                                   {x, columns, columns});
               });
}

// x_i = (b_i - sum over the known x_j of op(A)_ij x_j) / op(A)_ii
template <class T>
void plain_solve(const TriangleAttrs& attrs, const Matrices& a, const T* from,
                 std::int64_t columns, T* x) noexcept {
  const std::int64_t n = a.rows();
  const auto op = [&](std::int64_t i, std::int64_t j) {
    return static_cast<double>(
        attrs.transpose ? from[j * a.row_stride() + i * a.column_stride()]
                        : from[i * a.row_stride() + j * a.column_stride()]);
  };
  const bool upward = attrs.upper != attrs.transpose;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = upward ? n - 1 - step : step;
    for (std::int64_t column = 0; column < columns; ++column) {
      auto sum = static_cast<double>(x[i * columns + column]);
      for (std::int64_t known = 0; known < step; ++known) {
        const std::int64_t j = upward ? n - 1 - known : known;
        sum -= op(i, j) * static_cast<double>(x[j * columns + column]);
      }
      x[i * columns + column] =
          static_cast<T>(attrs.unit ? sum : sum / op(i, i));
    }
  }
}

template <class T>
void triangular_solve_reference(const Args& args) noexcept {
  const Operands operands(args);
  const Matrices& x = operands.x;
  if (x.rows() * x.columns() == 0) {
    return;
  }
  for (std::int64_t i = 0; i < x.count(); ++i) {
    operands.b.read(i, x.at<T>(i));
    plain_solve(args.attrs_as<TriangleAttrs>(), operands.a,
                operands.a.at<const T>(i), x.columns(), x.at<T>(i));
  }
}

constexpr std::array kKernels = float_rows<"triangular_solve">(
    {.run = triangular_solve<float>}, {.run = triangular_solve<double>},
    {triangular_solve_reference<float>}, {triangular_solve_reference<double>});

}  // namespace

constinit const KernelList triangular_solve_kernels{"triangular_solve",
                                                    kKernels};

}  // namespace neap::kernels
