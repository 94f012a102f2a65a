// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The register tile: kRows x (kVectors vectors of) columns of C, held in
// registers while k runs. Compiled once for each instruction set; included by
// gemm_part-inl.hpp and the headers of conv.cpp alone.
//
// Every lane computes its own element of C. The lanes past the last column
// compute on whatever the padding of B holds and are never stored, so one code
// serves edges too.
#if defined(NEAP_KERNELS_GEMM_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_GEMM_TILE_INL
#undef NEAP_KERNELS_GEMM_TILE_INL
#else
#define NEAP_KERNELS_GEMM_TILE_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "hwy/cache_control.h"
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

// Packed rows of one k: whole blocks of a transposition.
inline constexpr std::int64_t kPackedRows = (kTileRows + 3) / 4 * 4;

template <class T>
inline constexpr auto kLanes =
    static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
template <class T>
inline constexpr std::int64_t kTileColumns = 2 * kLanes<T>;

// How far before its use B is fetched, in steps of k.
inline constexpr std::int64_t kStepsAhead = 8;

/// How a tile walks over A: where the rows of one k lie side by side (packed,
/// or A transposed), or where the k of one row do.
enum class Walk : std::uint8_t { kAcross, kAlong };

/// Operands of one tile; steps are in elements. A Factor is what a sum takes in
/// one step of k: an element, or several of them (gemm_bf16-inl.hpp).
template <class T, class Factor = T>
struct TileArgs {
  std::int64_t depth = 0;  // of k
  const Factor* a = nullptr;
  std::int64_t a_step = 0;  // kAcross: from k to k + 1; kAlong: between rows
  const Factor* b = nullptr;
  std::int64_t b_step = 0;   // from k to k + 1
  const T* start = nullptr;  // what the accumulators begin with; none: zeros
  std::int64_t start_step = 0;
  T* c = nullptr;
  std::int64_t c_step = 0;
  std::int64_t last = 0;      // columns of the last vector, [1, lanes]
  const T* next_c = nullptr;  // fetched meanwhile, as many rows; or none
  bool ends_in_relu = false;
};

/// The first `count` lanes; nothing behind them is touched.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* from, std::int64_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d,
                        from);
#else
  HWY_ALIGN T lanes[hn::MaxLanes(d)] = {};
  std::copy_n(from, count, lanes);
  return hn::Load(d, lanes);
#endif
}

template <class D, class T>
HWY_INLINE void store_first(D d, hn::Vec<D> v, T* to, std::int64_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#else
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  std::copy_n(lanes, count, to);
#endif
}

template <int kRows, int kVectors, class T>
struct Sums {
  using D = hn::ScalableTag<T>;
  hn::Vec<D> at[kRows][kVectors];

  HWY_INLINE void begin(const T* HWY_RESTRICT start, std::int64_t step,
                        std::int64_t last) {
    const D d;
    if (start == nullptr) {
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          at[row][v] = hn::Zero(d);
        }
      }
      return;
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (int v = 0; v + 1 < kVectors; ++v) {
        at[row][v] = hn::LoadU(d, start + row * step + v * kLanes<T>);
      }
      at[row][kVectors - 1] =
          load_first(d, start + row * step + (kVectors - 1) * kLanes<T>, last);
    }
  }

  /// max(0, x), NaN for NaN.
  HWY_INLINE void relu() {
    const D d;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        at[row][v] =
            hn::IfThenZeroElse(hn::Le(at[row][v], hn::Zero(d)), at[row][v]);
      }
    }
  }

  HWY_INLINE void store(T* HWY_RESTRICT c, std::int64_t step,
                        std::int64_t last) const {
    const D d;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        T* to = c + row * step + v * kLanes<T>;
        if (v + 1 < kVectors || last == kLanes<T>) {
          hn::StoreU(at[row][v], d, to);
        } else {
          store_first(d, at[row][v], to, last);
        }
      }
    }
  }
};

template <Walk kWalk, int kRows, int kVectors, class T>
void run_tile(const TileArgs<T>& args) {
  const hn::ScalableTag<T> d;
  constexpr int kGroup = 3;  // rows that one pointer and its step can name
  constexpr int kGroups = (kRows + kGroup - 1) / kGroup;
  const std::int64_t a_step = args.a_step;
  const std::int64_t b_step = args.b_step;
  const T* HWY_RESTRICT b = args.b;
  const T* a[kGroups];
#pragma GCC unroll 16
  for (int group = 0; group < kGroups; ++group) {
    a[group] = args.a + (kWalk == Walk::kAlong ? kGroup * group * a_step : 0);
  }
  if (args.next_c != nullptr) {
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        hwy::Prefetch(args.next_c + row * args.c_step + v * kLanes<T>);
      }
    }
  }
  const std::int64_t ahead = kStepsAhead * b_step;
  Sums<kRows, kVectors, T> sums;
  sums.begin(args.start, args.start_step, args.last);
  for (std::int64_t k = args.depth; k > 0; --k) {
    hn::Vec<decltype(d)> b_row[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      b_row[v] = hn::LoadU(d, b + v * kLanes<T>);
      hwy::Prefetch(b + v * kLanes<T> + ahead);
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const auto a_element = hn::Set(
          d, kWalk == Walk::kAlong ? a[row / kGroup][row % kGroup * a_step]
                                   : a[0][row]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums.at[row][v] = hn::MulAdd(a_element, b_row[v], sums.at[row][v]);
      }
    }
    if constexpr (kWalk == Walk::kAlong) {
#pragma GCC unroll 16
      for (int group = 0; group < kGroups; ++group) {
        ++a[group];
      }
    } else {
      a[0] += a_step;
    }
    b += b_step;
  }
  if (args.ends_in_relu) {
    sums.relu();
  }
  sums.store(args.c, args.c_step, args.last);
}

template <class T>
using TileFunction = void (*)(const TileArgs<T>&);

template <Walk kWalk, int kVectors, class T, int... kIndices>
constexpr std::array<TileFunction<T>, sizeof...(kIndices)> tiles_of(
    std::integer_sequence<int, kIndices...> /* indices */) {
  return {&run_tile<kWalk, kIndices + 1, kVectors, T>...};
}

/// kTiles<walk, vectors, T>[rows - 1]
template <Walk kWalk, int kVectors, class T>
inline constexpr auto kTiles =
    tiles_of<kWalk, kVectors, T>(std::make_integer_sequence<int, kTileRows>());

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
