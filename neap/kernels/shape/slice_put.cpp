// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/shape/slice_put.hpp"

#include <array>

#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/fill.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/shape/pad.hpp"

namespace neap::kernels {
namespace {

// The part of y that x goes to.
Strided window_of(const Strided& y, const SliceAttrs& slice) noexcept {
  const int axis = static_cast<int>(slice.axis);
  Strided window = y;
  window.shape[axis] = slice.count;
  window.strides[axis] = y.strides[axis] * slice.step;
  if (window.shape.element_count() != 0) {
    window.data += slice.start * y.strides[axis] * size_of(y.dtype);
  }
  return window;
}

void slice_put(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<SliceAttrs>();
  const Strided& y = args.out[0];
  if (attrs.step == 1) {
    fill_around(y, static_cast<int>(attrs.axis), attrs.start, attrs.count, 0.0,
                *args.executor);
  } else {
    const FillAttrs zero{};
    Args fill = args;
    fill.in = {};
    fill.attrs = &zero;
    fill_kernels.kernels[static_cast<std::size_t>(y.dtype)].run(fill);
  }
  copy_elements(args.in[0], window_of(y, attrs), *args.executor);
}

// add, of the window and x, in the window's place.
void slice_add(const Args& args) noexcept {
  const Strided& y = args.out[0];
  if (y.data != args.in[0].data) {
    copy_elements(args.in[0], y, *args.executor);
  }
  const Strided window = window_of(y, args.attrs_as<SliceAttrs>());
  const std::array<Strided, 2> in{window, args.in[1]};
  Args add = args;
  add.in = in;
  add.out = {&window, 1};
  add.attrs = nullptr;
  for (const Kernel& kernel : add_kernels.kernels) {
    if (kernel.dtype == y.dtype &&
        (kernel.accepts == nullptr || kernel.accepts(add))) {
      kernel.run(add);
      return;
    }
  }
}

constexpr std::array kKernels =
    rows_of_every_dtype<"slice_put">({.run = slice_put});

constexpr std::array kAdds{
    Kernel{.name = "slice_add.f32", .dtype = f32, .run = slice_add},
    Kernel{.name = "slice_add.f64", .dtype = f64, .run = slice_add},
    Kernel{.name = "slice_add.i32", .dtype = i32, .run = slice_add},
    Kernel{.name = "slice_add.i64", .dtype = i64, .run = slice_add},
};

}  // namespace

constinit const KernelList slice_put_kernels{"slice_put", kKernels};
constinit const KernelList slice_add_kernels{"slice_add", kAdds};

}  // namespace neap::kernels
