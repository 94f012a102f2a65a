// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/copy.hpp"

#include <array>
#include <cstring>

#include "neap/kernels/elementwise.hpp"

namespace neap::kernels {
namespace {

template <std::size_t kSize>
void copy_piece(const Piece& piece) noexcept {
  std::memcpy(piece.data[1], piece.data[0],
              static_cast<std::size_t>(piece.count) * kSize);
}

void copy(const Args& args) noexcept {
  switch (size_of(args.out[0].dtype)) {
    case 1:
      return run_elementwise(args, copy_piece<1>);
    case 2:
      return run_elementwise(args, copy_piece<2>);
    case 4:
      return run_elementwise(args, copy_piece<4>);
    default:
      return run_elementwise(args, copy_piece<8>);
  }
}

constexpr std::array kKernels{
    Kernel{.name = "copy.f32", .dtype = f32, .run = copy},
    Kernel{.name = "copy.f64", .dtype = f64, .run = copy},
    Kernel{.name = "copy.bf16", .dtype = bf16, .run = copy},
    Kernel{.name = "copy.i32", .dtype = i32, .run = copy},
    Kernel{.name = "copy.i64", .dtype = i64, .run = copy},
    Kernel{.name = "copy.u8", .dtype = u8, .run = copy},
    Kernel{.name = "copy.bool", .dtype = boolean, .run = copy},
};

}  // namespace

constinit const KernelList copy_kernels{"copy", kKernels};

void copy_elements(const Strided& x, const Strided& y,
                   threads::Executor& executor) noexcept {
  copy(Args{.in = {&x, 1},
            .out = {&y, 1},
            .attrs = nullptr,
            .scratch = {},
            .executor = &executor});
}

}  // namespace neap::kernels
