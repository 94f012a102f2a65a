// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/pad.hpp"

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/copy.hpp"
#include "neap/kernels/fill.hpp"

namespace neap::kernels {
namespace {

// `count` positions of one axis, from `start`.
Strided part_of(const Strided& y, int axis, std::int64_t start,
                std::int64_t count) noexcept {
  Strided part = y;
  part.shape[axis] = count;
  if (part.shape.element_count() != 0) {
    part.data += start * y.strides[axis] * size_of(y.dtype);
  }
  return part;
}

void fill_all(const Strided& y, double value,
              threads::Executor& executor) noexcept {
  const FillAttrs attrs{value};
  fill_kernels.kernels[static_cast<std::size_t>(y.dtype)].run(
      {.in = {},
       .out = {&y, 1},
       .attrs = &attrs,
       .scratch = {},
       .executor = &executor});
}

// Around along axis 0, then around what is left of that along axis 1, ..: no
// element is written twice.
void pad(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PadAttrs>();
  const Strided& x = args.in[0];
  Strided y = args.out[0];
  for (int axis = 0; axis < y.shape.rank(); ++axis) {
    const std::int64_t start = attrs.before[static_cast<std::size_t>(axis)];
    fill_around(y, axis, start, x.shape[axis], attrs.value, *args.executor);
    y = part_of(y, axis, start, x.shape[axis]);
  }
  copy_elements(x, y, *args.executor);
}

constexpr std::array kKernels{
    Kernel{.name = "pad.f32", .dtype = f32, .run = pad},
    Kernel{.name = "pad.f64", .dtype = f64, .run = pad},
    Kernel{.name = "pad.bf16", .dtype = bf16, .run = pad},
    Kernel{.name = "pad.i32", .dtype = i32, .run = pad},
    Kernel{.name = "pad.i64", .dtype = i64, .run = pad},
    Kernel{.name = "pad.u8", .dtype = u8, .run = pad},
    Kernel{.name = "pad.bool", .dtype = boolean, .run = pad},
};

}  // namespace

void fill_around(const Strided& y, int axis, std::int64_t start,
                 std::int64_t part, double value,
                 threads::Executor& executor) noexcept {
  const std::int64_t end = start + part;
  fill_all(part_of(y, axis, 0, start), value, executor);
  fill_all(part_of(y, axis, end, y.shape[axis] - end), value, executor);
}

constinit const KernelList pad_kernels{"pad", kKernels};

}  // namespace neap::kernels
