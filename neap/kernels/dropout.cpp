// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/dropout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/float_list.hpp"
#include "neap/kernels/strides.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/dropout.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr int kBlocks = 32;  // Philox blocks made at one time
constexpr int kWords = 4 * kBlocks;

// base::philox for kBlocks counters in a row, written so that the compiler
// makes vectors of it.
void draw(const base::DrawKey& key, std::uint64_t first_block,
          std::uint32_t* words) noexcept {
  alignas(64) std::uint32_t c[4][kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    const std::uint64_t block = first_block + static_cast<std::uint64_t>(i);
    c[0][i] = static_cast<std::uint32_t>(block);
    c[1][i] = static_cast<std::uint32_t>(block >> 32U);
    c[2][i] = static_cast<std::uint32_t>(key.draw);
    c[3][i] = static_cast<std::uint32_t>(key.draw >> 32U);
  }
  auto k0 = static_cast<std::uint32_t>(key.seed);
  auto k1 = static_cast<std::uint32_t>(key.seed >> 32U);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kBlocks; ++i) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0][i];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2][i];
      c[0][i] = static_cast<std::uint32_t>(p1 >> 32U) ^ c[1][i] ^ k0;
      c[2][i] = static_cast<std::uint32_t>(p0 >> 32U) ^ c[3][i] ^ k1;
      c[1][i] = static_cast<std::uint32_t>(p1);
      c[3][i] = static_cast<std::uint32_t>(p0);
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  for (int i = 0; i < kBlocks; ++i) {
    for (int k = 0; k < 4; ++k) {
      words[4 * i + k] = c[k][i];
    }
  }
}

template <class T>
void dropout_piece_of(const Piece& piece) noexcept {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto& attrs = piece.attrs_as<DropoutAttrs>();
  const T* x = piece.at<const T>(0);
  T* y = piece.at<T>(1);
  const T keep = static_cast<T>(1.0 - attrs.p);
  // word >> 8 is uniform_f32 times 2^24.
  const auto threshold =
      static_cast<std::uint32_t>(std::ceil(attrs.p * 0x1.0p24));
  alignas(64) std::uint32_t words[kWords];
  std::int64_t i = 0;
  while (i < piece.count) {
    const auto at = static_cast<std::uint64_t>(piece.first + i);
    const std::uint64_t skip = at % 4;
    draw(attrs.key, at / 4, words);
    const std::int64_t run =
        std::min(piece.count - i, kWords - static_cast<std::int64_t>(skip));
    // Branches on random bits would be mispredicted: the choice is a mask.
    for (std::int64_t k = 0; k < run; ++k) {
      const Bits all = ~Bits{0};
      const Bits mask =
          words[skip + static_cast<std::uint64_t>(k)] >> 8U >= threshold
              ? all
              : Bits{0};
      y[i + k] = std::bit_cast<T>(std::bit_cast<Bits>(x[i + k] / keep) & mask);
    }
    i += run;
  }
}

}  // namespace

PieceFunction dropout_piece(DType dtype) {
  return dtype == f32 ? dropout_piece_of<float> : dropout_piece_of<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(dropout_piece);

PieceFunction piece_of(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(dropout_piece)(args.out[0].dtype);
}

void dropout(const Args& args) noexcept {
  run_elementwise(args, piece_of(args), OutputUse::kWrites);
}

template <class T>
void dropout_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<DropoutAttrs>();
  const Strided& y = args.out[0];
  const Shape strides = broadcast_strides(args.in[0], y.shape);
  for (std::int64_t i = 0; i < y.shape.element_count(); ++i) {
    const T x = args.in[0].as<T>()[offset_at(y.shape, strides, i)];
    const float u =
        base::uniform_f32(attrs.key.word(static_cast<std::uint64_t>(i)));
    y.as<T>()[offset_at(y.shape, y.strides, i)] =
        static_cast<double>(u) >= attrs.p ? x / static_cast<T>(1.0 - attrs.p)
                                          : T(0);
  }
}

}  // namespace

constinit const KernelList dropout_kernels{
    "dropout", kFloatList<"dropout", dropout, dropout_reference<float>,
                          dropout_reference<double>, piece_of>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
