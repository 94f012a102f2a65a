// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The register tile: up to kTileRows x 2 vectors of accumulators that run over
// one block of k. Compiled once for each instruction set; included by gemm.cpp
// alone.
//
// A tile of fewer rows or of one vector is the same code with smaller
// constants. It computes whole vectors always: a caller with fewer columns
// gives it a C of its own and takes what is wanted.
#if defined(NEAP_KERNELS_GEMM_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_GEMM_TILE_INL
#undef NEAP_KERNELS_GEMM_TILE_INL
#else
#define NEAP_KERNELS_GEMM_TILE_INL
#endif

#include <array>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many accumulators as the registers hold beside two vectors of B and one
// element of A.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr int kTileRows = 12;  // of 32 registers
#elif HWY_TARGET == HWY_AVX2
inline constexpr int kTileRows = 6;  // of 16
#else
inline constexpr int kTileRows = 4;
#endif

template <class T>
inline constexpr auto kLanes =
    static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
template <class T>
inline constexpr std::int64_t kTileColumns = 2 * kLanes<T>;

/// Operands of one tile; steps are in elements.
template <class T>
struct TileArgs {
  std::int64_t depth = 0;  // of k
  const T* a = nullptr;
  std::int64_t a_row_step = 0;  // tiles of two vectors take a packed panel of
  std::int64_t a_k_step = 0;    // A, whose steps they know
  const T* b = nullptr;
  std::int64_t b_k_step = 0;
  const T* start = nullptr;  // what the accumulators begin with
  std::int64_t start_row_step = 0;
  T* c = nullptr;
  std::int64_t c_row_step = 0;
};

template <int kRows, int kVectors, class T>
void run_tile(const TileArgs<T>& args) {
  const hn::ScalableTag<T> d;
  const std::int64_t a_row_step = kVectors == 2 ? 1 : args.a_row_step;
  const std::int64_t a_k_step = kVectors == 2 ? kTileRows : args.a_k_step;
  const T* HWY_RESTRICT a = args.a;
  const T* HWY_RESTRICT b = args.b;
  hn::Vec<decltype(d)> sums[kRows][kVectors];

#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sums[row][v] =
          hn::LoadU(d, args.start + row * args.start_row_step + v * kLanes<T>);
    }
  }
  for (std::int64_t k = args.depth; k > 0; --k) {
    hn::Vec<decltype(d)> b_row[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      b_row[v] = hn::LoadU(d, b + v * kLanes<T>);
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const auto a_element = hn::Set(d, a[row * a_row_step]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums[row][v] = hn::MulAdd(a_element, b_row[v], sums[row][v]);
      }
    }
    a += a_k_step;
    b += args.b_k_step;
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[row][v], d,
                 args.c + row * args.c_row_step + v * kLanes<T>);
    }
  }
}

template <class T>
using TileFunction = void (*)(const TileArgs<T>&);

template <int kVectors, class T, int... kIndices>
constexpr std::array<TileFunction<T>, sizeof...(kIndices)> tiles_of(
    std::integer_sequence<int, kIndices...> /* indices */) {
  return {&run_tile<kIndices + 1, kVectors, T>...};
}

/// kTiles<vectors, T>[rows - 1]
template <int kVectors, class T>
inline constexpr auto kTiles =
    tiles_of<kVectors, T>(std::make_integer_sequence<int, kTileRows>());

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
