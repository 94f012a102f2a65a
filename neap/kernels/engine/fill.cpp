// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/fill.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/convert.hpp"
#include "neap/kernels/engine/elementwise.hpp"

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

template <class T>
constexpr Kernel entry(const char* name) noexcept {
  return {.name = name,
          .dtype = dtype_of<T>,
          .run = fill<T>,
          .piece = [](const Args&) noexcept -> PieceFunction {
            return fill_piece<T>;
          }};
}

constexpr std::array kKernels{
    entry<float>("fill.f32"),        entry<double>("fill.f64"),
    entry<BFloat16>("fill.bf16"),    entry<std::int32_t>("fill.i32"),
    entry<std::int64_t>("fill.i64"), entry<std::uint8_t>("fill.u8"),
    entry<bool>("fill.bool"),
};

}  // namespace

constinit const KernelList fill_kernels{"fill", kKernels};

}  // namespace neap::kernels
