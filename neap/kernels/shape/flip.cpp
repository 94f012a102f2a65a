// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/shape/flip.hpp"

#include <array>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"

namespace neap::kernels {
namespace {

// A copy of x as it is seen from the other end.
void flip(const Args& args) noexcept {
  Strided x = args.in[0];
  if (x.shape.element_count() == 0) {
    return;
  }
  const std::uint64_t axes = args.attrs_as<ReduceAttrs>().axes;
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    if ((axes >> static_cast<unsigned>(axis) & 1U) != 0) {
      x.data += (x.shape[axis] - 1) * x.strides[axis] * size_of(x.dtype);
      x.strides[axis] = -x.strides[axis];
    }
  }
  copy_elements(x, args.out[0], *args.executor);
}

constexpr std::array kKernels = rows_of_every_dtype<"flip">({.run = flip});

}  // namespace

constinit const KernelList flip_kernels{"flip", kKernels};

}  // namespace neap::kernels
