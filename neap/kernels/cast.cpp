// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/cast.hpp"

#include <array>

#include "neap/kernels/convert.hpp"
#include "neap/kernels/elementwise.hpp"

namespace neap::kernels {
namespace {

template <class To, class From>
void cast_piece(const Piece& piece) noexcept {
  const From* x = piece.at<const From>(0);
  To* y = piece.at<To>(1);
  for (std::int64_t i = 0; i < piece.count; ++i) {
    y[i] = convert<To>(x[i]);
  }
}

// In the order of DType.
template <class From>
constexpr std::array<PieceFunction, kDTypeCount> kCasts{
    cast_piece<float, From>,        cast_piece<double, From>,
    cast_piece<BFloat16, From>,     cast_piece<std::int32_t, From>,
    cast_piece<std::int64_t, From>, cast_piece<std::uint8_t, From>,
    cast_piece<bool, From>};

template <class From>
void cast(const Args& args) noexcept {
  const auto to = static_cast<std::size_t>(args.out[0].dtype);
  run_elementwise(args, kCasts<From>[to]);
}

constexpr std::array kKernels{
    Kernel{.name = "cast.f32", .dtype = f32, .run = cast<float>},
    Kernel{.name = "cast.f64", .dtype = f64, .run = cast<double>},
    Kernel{.name = "cast.bf16", .dtype = bf16, .run = cast<BFloat16>},
    Kernel{.name = "cast.i32", .dtype = i32, .run = cast<std::int32_t>},
    Kernel{.name = "cast.i64", .dtype = i64, .run = cast<std::int64_t>},
    Kernel{.name = "cast.u8", .dtype = u8, .run = cast<std::uint8_t>},
    Kernel{.name = "cast.bool", .dtype = boolean, .run = cast<bool>},
};

}  // namespace

constinit const KernelList cast_kernels{"cast", kKernels};

}  // namespace neap::kernels
