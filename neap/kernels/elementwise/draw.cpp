// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/draw.hpp"

#include "neap/base/draws.hpp"
#include "neap/base/permutation.hpp"
#include "neap/kernels/engine/elementwise.hpp"

namespace neap::kernels {
namespace {

base::DrawnRange range_of(const Piece& piece) noexcept {
  return {piece.attrs_as<DrawAttrs>().key,
          static_cast<std::uint64_t>(piece.first), piece.count};
}

template <class T>
void float_piece(const Piece& piece) noexcept {
  if (piece.attrs_as<DrawAttrs>().draw == Draw::kNormal) {
    base::draw_normal(range_of(piece), {}, piece.at<T>(0));
  } else {
    base::draw_uniform(range_of(piece), piece.at<T>(0));
  }
}

template <class T>
void integer_piece(const Piece& piece) noexcept {
  const auto& attrs = piece.attrs_as<DrawAttrs>();
  base::draw_integers(range_of(piece), attrs.low, attrs.high, piece.at<T>(0));
}

template <PieceFunction kPiece>
void draw(const Args& args) noexcept {
  run_elementwise(args, kPiece);
}

template <class T>
void draw_whole_numbers(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<DrawAttrs>();
  if (attrs.draw == Draw::kPermutation) {
    const Strided& y = args.out[0];
    base::draw_permutation(attrs.key, y.shape[0], y.strides[0], y.as<T>());
  } else {
    run_elementwise(args, integer_piece<T>);
  }
}

constexpr std::array kKernels{
    Kernel{.name = "draw.f32", .dtype = f32, .run = draw<float_piece<float>>},
    Kernel{.name = "draw.f64", .dtype = f64, .run = draw<float_piece<double>>},
    Kernel{.name = "draw.i32",
           .dtype = i32,
           .run = draw_whole_numbers<std::int32_t>},
    Kernel{.name = "draw.i64",
           .dtype = i64,
           .run = draw_whole_numbers<std::int64_t>},
};

}  // namespace

constinit const KernelList draw_kernels{"draw", kKernels};

}  // namespace neap::kernels
