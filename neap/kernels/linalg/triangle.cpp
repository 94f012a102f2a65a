// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/triangle.hpp"

#include <array>

#include "neap/kernels/linalg/matrices.hpp"

namespace neap::kernels {
namespace {

template <class T>
struct Row {
  T* data;
  std::int64_t stride;
  T& operator[](std::int64_t j) const noexcept { return data[j * stride]; }
};

// Columns [first, last) of y are x, the others 0.
template <class T>
void keep(const Row<const T>& x, const Row<T>& y, std::int64_t columns,
          std::int64_t first, std::int64_t last) noexcept {
  for (std::int64_t j = 0; j < first; ++j) {
    y[j] = T{};
  }
  if (x.data != y.data) {
    for (std::int64_t j = first; j < last; ++j) {
      y[j] = x[j];
    }
  }
  for (std::int64_t j = last; j < columns; ++j) {
    y[j] = T{};
  }
}

// Elements are moved as unsigned integers of their size.
template <class T>
void triangle(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<TrilAttrs>();
  const Shape leading = without_matrix(args.out[0].shape);
  const Matrices x(args.in[0], leading);
  const Matrices y(args.out[0], leading);
  const std::int64_t rows = y.rows();
  const std::int64_t columns = y.columns();
  const std::int64_t count = columns == 0 ? 0 : y.count() * rows;
  constexpr std::int64_t kWork = 16384;  // elements; a range of one thread
  const std::int64_t grain = kWork / std::max<std::int64_t>(columns, 1) + 1;
  threads::parallel_for(
      *args.executor, count, grain,
      [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t at = begin; at < end; ++at) {
          const std::int64_t i = at % rows;
          const std::int64_t edge = std::clamp<std::int64_t>(
              i + attrs.diagonal + (attrs.upper != 0 ? 0 : 1), 0, columns);
          const Row<const T> from{x.at<const T>(at / rows) + i * x.row_stride(),
                                  x.column_stride()};
          const Row<T> to{y.at<T>(at / rows) + i * y.row_stride(),
                          y.column_stride()};
          keep(from, to, columns, attrs.upper != 0 ? edge : 0,
               attrs.upper != 0 ? columns : edge);
        }
      });
}

constexpr std::array kKernels{
    Kernel{
        .name = "triangle.f32", .dtype = f32, .run = triangle<std::uint32_t>},
    Kernel{
        .name = "triangle.f64", .dtype = f64, .run = triangle<std::uint64_t>},
    Kernel{
        .name = "triangle.bf16", .dtype = bf16, .run = triangle<std::uint16_t>},
    Kernel{
        .name = "triangle.i32", .dtype = i32, .run = triangle<std::uint32_t>},
    Kernel{
        .name = "triangle.i64", .dtype = i64, .run = triangle<std::uint64_t>},
    Kernel{.name = "triangle.u8", .dtype = u8, .run = triangle<std::uint8_t>},
    Kernel{.name = "triangle.bool",
           .dtype = boolean,
           .run = triangle<std::uint8_t>},
};

}  // namespace

constinit const KernelList triangle_kernels{"triangle", kKernels};

}  // namespace neap::kernels
