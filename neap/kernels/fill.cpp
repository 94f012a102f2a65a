// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/fill.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/convert.hpp"
#include "neap/kernels/elementwise.hpp"

namespace neap::kernels {
namespace {

template <class T>
void fill_piece(const Piece& piece) noexcept {
  std::fill_n(piece.at<T>(0), piece.count,
              convert<T>(piece.attrs_as<FillAttrs>().value));
}

template <class T>
void fill(const Args& args) noexcept {
  run_elementwise(args, fill_piece<T>);
}

constexpr std::array kKernels{
    Kernel{.name = "fill.f32", .dtype = f32, .run = fill<float>},
    Kernel{.name = "fill.f64", .dtype = f64, .run = fill<double>},
    Kernel{.name = "fill.bf16", .dtype = bf16, .run = fill<BFloat16>},
    Kernel{.name = "fill.i32", .dtype = i32, .run = fill<std::int32_t>},
    Kernel{.name = "fill.i64", .dtype = i64, .run = fill<std::int64_t>},
    Kernel{.name = "fill.u8", .dtype = u8, .run = fill<std::uint8_t>},
    Kernel{.name = "fill.bool", .dtype = boolean, .run = fill<bool>},
};

}  // namespace

constinit const KernelList fill_kernels{"fill", kKernels};

}  // namespace neap::kernels
