// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/draw.hpp"

#include "neap/base/drawn.hpp"
#include "neap/kernels/elementwise.hpp"

namespace neap::kernels {
namespace {

template <class T, class ValueOf>
void fill_drawn(const Piece& piece, const ValueOf& value_of) noexcept {
  const base::DrawKey& key = piece.attrs_as<DrawAttrs>().key;
  T* y = piece.at<T>(0);
  for (std::int64_t i = 0; i < piece.count; ++i) {
    y[i] = static_cast<T>(
        value_of(key.block(static_cast<std::uint64_t>(piece.first + i))));
  }
}

template <class T>
void float_piece(const Piece& piece) noexcept {
  if (piece.attrs_as<DrawAttrs>().draw == Draw::kNormal) {
    fill_drawn<T>(piece, base::drawn_normal<T>);
  } else {
    fill_drawn<T>(piece, base::drawn_uniform<T>);
  }
}

template <class T>
void integer_piece(const Piece& piece) noexcept {
  const auto& attrs = piece.attrs_as<DrawAttrs>();
  fill_drawn<T>(piece, base::DrawnInteger(attrs.low, attrs.high));
}

template <PieceFunction kPiece>
void draw(const Args& args) noexcept {
  run_elementwise(args, kPiece);
}

constexpr std::array kKernels{
    Kernel{.name = "draw.f32", .dtype = f32, .run = draw<float_piece<float>>},
    Kernel{.name = "draw.f64", .dtype = f64, .run = draw<float_piece<double>>},
    Kernel{.name = "draw.i32",
           .dtype = i32,
           .run = draw<integer_piece<std::int32_t>>},
    Kernel{.name = "draw.i64",
           .dtype = i64,
           .run = draw<integer_piece<std::int64_t>>},
};

}  // namespace

constinit const KernelList draw_kernels{"draw", kKernels};

}  // namespace neap::kernels
