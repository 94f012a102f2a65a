// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The register tile of convolutions: as gemm_tile-inl.hpp's, but elements and
// vectors are found by lists of offsets, so that no product of the kernel's
// places with the image's is ever laid out. Row r takes, at step k, the element
// at rows[r] + steps[k].at, times the vectors at steps[k].b; by lane, it takes
// vectors of elements there, and each lane is a convolution of its own.
// Compiled once for each instruction set; included by conv's sources alone.
#if defined(NEAP_KERNELS_CONV_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_TILE_INL
#undef NEAP_KERNELS_CONV_TILE_INL
#else
#define NEAP_KERNELS_CONV_TILE_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "neap/base/ceil_div.hpp"
#include "neap/kernels/conv/conv_bf16-inl.hpp"
#include "neap/kernels/conv/conv_plan.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
inline constexpr int kConvTileRows = 14;  // 28 sums, two vectors, one element
#else
inline constexpr int kConvTileRows = kTileRows;
#endif

/// A tile: its rows' sums are whole panels of kTileColumns in scratch. A
/// Factor is what a sum takes in one step: an element, or a pair of them
/// (conv_bf16-inl.hpp).
template <class T, class Factor = T>
struct ConvTile {
  std::int64_t depth = 0;              // steps
  const Factor* image = nullptr;       // what rows and steps count from
  const std::int32_t* rows = nullptr;  // where each row begins
  const ConvStep* steps = nullptr;     // `depth` of them, and some more
  const Factor* b = nullptr;           // packed: kTileColumns a step
  T* sums = nullptr;
  const std::int32_t* places = nullptr;  // where each row's sums are
  bool begins = false;       // with `start`, not with what the sums hold
  const T* start = nullptr;  // one panel; none: zeros
};

template <int kRows, int kVectors, class T>
struct ConvSums {
  using D = hn::ScalableTag<T>;
  hn::Vec<D> at[kRows][kVectors];

  template <class Factor>
  HWY_INLINE void begin(const ConvTile<T, Factor>& tile) {
    const D d;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const T* from = tile.begins ? tile.start : tile.sums + tile.places[row];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        at[row][v] =
            from == nullptr ? hn::Zero(d) : hn::LoadU(d, from + v * kLanes<T>);
      }
    }
  }

  template <class Factor>
  HWY_INLINE void store(const ConvTile<T, Factor>& tile) const {
    const D d;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        hn::StoreU(at[row][v], d, tile.sums + tile.places[row] + v * kLanes<T>);
      }
    }
  }
};

// --- a step: conv_bf16-inl.hpp has these of pairs ---

template <class T>
HWY_INLINE auto load_factors(const T* from) {
  return hn::LoadU(hn::ScalableTag<T>(), from);
}

template <class T>
HWY_INLINE auto spread_factor(const T* from) {
  return hn::Set(hn::ScalableTag<T>(), *from);
}

template <class V>
HWY_INLINE V add_products(V a, V b, V sums) {
  return hn::MulAdd(a, b, sums);
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Tiles of pairs need more than the instruction set; those of elements are
// compiled with it, but have no use for it.
#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
#else
HWY_BEFORE_NAMESPACE();
#endif
namespace neap::kernels::HWY_NAMESPACE {

template <bool kByLane, int kRows, int kVectors, class T, class Factor>
void run_conv_tile(const ConvTile<T, Factor>& tile) {
  const Factor* row_at[kRows];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    row_at[row] = tile.image + tile.rows[row];
  }
  const Factor* HWY_RESTRICT b = tile.b;
  const ConvStep* HWY_RESTRICT step = tile.steps;
  const ConvStep* const end = step + tile.depth;
  ConvSums<kRows, kVectors, T> sums;
  sums.begin(tile);
  for (; step != end; ++step) {
    const std::int64_t at = step->at;
    const Factor* b_at = b + step->b;
    const Factor* b_ahead = b + step[kConvStepsAhead].b;
    decltype(load_factors(b)) b_row[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      b_row[v] = load_factors(b_at + v * kLanes<T>);
      hwy::Prefetch(b_ahead + v * kLanes<T>);
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const Factor* from = row_at[row] + at;
      if constexpr (kByLane) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          sums.at[row][v] = add_products(load_factors(from + v * kLanes<T>),
                                         b_row[v], sums.at[row][v]);
        }
      } else {
        const auto a = spread_factor(from);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          sums.at[row][v] = add_products(a, b_row[v], sums.at[row][v]);
        }
      }
    }
  }
  sums.store(tile);
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

template <class T, class Factor>
using ConvTileFunction = void (*)(const ConvTile<T, Factor>&);

template <bool kByLane, int kVectors, class T, class Factor, int... kIndices>
constexpr std::array<ConvTileFunction<T, Factor>, sizeof...(kIndices)>
conv_tiles_of(std::integer_sequence<int, kIndices...> /* indices */) {
  return {&run_conv_tile<kByLane, kIndices + 1, kVectors, T, Factor>...};
}

/// kConvTiles<by lane, vectors, T, Factor>[rows - 1]
template <bool kByLane, int kVectors, class T, class Factor>
inline constexpr auto kConvTiles = conv_tiles_of<kByLane, kVectors, T, Factor>(
    std::make_integer_sequence<int, kConvTileRows>());

/// Rows of the next tile where so many are left.
inline std::int64_t next_conv_rows(std::int64_t left) {
#if HWY_TARGET == HWY_AVX3
  // For 11 and 12 rows g++ keeps addresses in vector registers, which costs a
  // tenth; one or two rows alone wait for their own sums.
  constexpr std::array kNext{0,  1, 2, 3, 4, 5,  6,  7,  8,  9,  10, 6, 6,  13,
                             14, 8, 8, 9, 9, 10, 10, 13, 13, 13, 14, 9, 13, 14};
  return left < static_cast<std::int64_t>(kNext.size())
             ? kNext[static_cast<std::size_t>(left)]
             : kConvTileRows;
#else
  const std::int64_t tiles = base::ceil_div(left, kConvTileRows);
  return base::ceil_div(left, tiles);
#endif
}

/// Ends a list of steps that begins here. RETURNS: how many it has.
inline std::int64_t end_steps(ConvStep* steps, ConvStep* end) {
  const ConvStep last = end == steps ? ConvStep{0, 0} : end[-1];
  std::fill_n(end, kConvStepsAhead, last);
  return end - steps;
}

/// All rows of a list, a tile at a time; `tile` has the first row's. Calls
/// before(place of the first row, rows) for each.
template <bool kByLane, class T, class Factor, class Before>
void run_conv_rows(ConvTile<T, Factor> tile, std::int64_t rows,
                   std::int64_t vectors, const Before& before) {
  while (rows > 0) {
    const std::int64_t count = next_conv_rows(rows);
    const auto index = static_cast<std::size_t>(count - 1);
    before(tile.places[0], count);
    (vectors == 2 ? kConvTiles<kByLane, 2, T, Factor>
                  : kConvTiles<kByLane, 1, T, Factor>)[index](tile);
    tile.rows += count;
    tile.places += count;
    rows -= count;
  }
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
