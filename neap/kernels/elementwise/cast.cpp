// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/cast.hpp"

#include <array>

#include "neap/kernels/engine/convert.hpp"
#include "neap/kernels/engine/elementwise.hpp"

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
PieceFunction piece_of(const Args& args) noexcept {
  return kCasts<From>[static_cast<std::size_t>(args.out[0].dtype)];
}

template <class From>
void cast(const Args& args) noexcept {
  run_elementwise(args, piece_of<From>(args));
}

template <class From>
constexpr Kernel entry(const char* name) noexcept {
  return {.name = name,
          .dtype = dtype_of<From>,
          .run = cast<From>,
          .piece = piece_of<From>};
}

constexpr std::array kKernels{
    entry<float>("cast.f32"),        entry<double>("cast.f64"),
    entry<BFloat16>("cast.bf16"),    entry<std::int32_t>("cast.i32"),
    entry<std::int64_t>("cast.i64"), entry<std::uint8_t>("cast.u8"),
    entry<bool>("cast.bool"),
};

}  // namespace

constinit const KernelList cast_kernels{"cast", kKernels};

}  // namespace neap::kernels
