// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/shape/diagonal_put.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/fill.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"

namespace neap::kernels {
namespace {

void diagonal_put(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<DiagonalAttrs>();
  const Strided& x = args.in[0];
  const FillAttrs zero{};
  Args fill = args;
  fill.in = {};
  fill.attrs = &zero;
  fill_kernels.kernels[static_cast<std::size_t>(args.out[0].dtype)].run(fill);
  if (x.shape.element_count() == 0) {
    return;
  }
  // The diagonal of y: its two axes become one, the last, that steps along
  // both.
  Strided y = args.out[0];
  const int first = static_cast<int>(attrs.first);
  const int second = static_cast<int>(attrs.second);
  const std::int64_t down = y.strides[first];
  const std::int64_t right = y.strides[second];
  y.data += (std::max<std::int64_t>(-attrs.offset, 0) * down +
             std::max<std::int64_t>(attrs.offset, 0) * right) *
            size_of(y.dtype);
  y.strides.erase(std::max(first, second));
  y.strides.erase(std::min(first, second));
  y.strides.push_back(down + right);
  y.shape = x.shape;
  copy_elements(x, y, *args.executor);
}

constexpr std::array kKernels =
    rows_of_every_dtype<"diagonal_put">({.run = diagonal_put});

}  // namespace

constinit const KernelList diagonal_put_kernels{"diagonal_put", kKernels};

}  // namespace neap::kernels
