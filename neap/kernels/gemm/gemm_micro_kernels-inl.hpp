// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The set of micro-kernels that the loops of a product are written for: how
// operands are packed and which register tile takes them, with elements as
// factors or with pairs of them that are rounded to bf16. Compiled once for
// each instruction set.
#if defined(NEAP_KERNELS_GEMM_MICRO_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_GEMM_MICRO_KERNELS_INL
#undef NEAP_KERNELS_GEMM_MICRO_KERNELS_INL
#else
#define NEAP_KERNELS_GEMM_MICRO_KERNELS_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "neap/kernels/gemm/gemm_bf16-inl.hpp"
#include "neap/kernels/gemm/gemm_pack-inl.hpp"
#include "neap/kernels/gemm/gemm_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

/// Elements as they are.
template <class T>
struct PlainMicroKernels {
  using Element = T;
  using Factor = T;
  using SourceOfA = T;
  using SourceOfB = T;
  static constexpr std::int64_t kElements = 1;  // of a factor
  static constexpr bool kConverts = false;

  /// A panel, as a tile takes one.
  template <std::int64_t kWidth>
  static void pack(const T* from, std::int64_t across, std::int64_t along,
                   std::int64_t width, std::int64_t depth, T* to) {
    pack_panel<kWidth>(from, across, along, width, depth, to);
  }

  /// Rows that lie along k.
  static void pack_rows(const T* from, std::int64_t from_step,
                        std::int64_t rows, std::int64_t depth, T* to,
                        std::int64_t to_step) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(from + row * from_step, depth, to + row * to_step);
    }
  }

  template <Walk kWalk, int kVectors>
  static void run(const TileArgs<T>& tile, std::size_t rows) {
    kTiles<kWalk, kVectors, T>[rows - 1](tile);
  }
};

/// Floats, where the elements of an operand lie in memory as bf16 and are
/// widened as they are packed. Only of gemm.
template <class A, class B>
struct WideningMicroKernels : PlainMicroKernels<float> {
  using SourceOfA = A;
  using SourceOfB = B;

  template <std::int64_t kWidth, class From>
  static void pack(const From* from, std::int64_t across, std::int64_t along,
                   std::int64_t width, std::int64_t depth, float* to) {
    pack_panel<kWidth>(from, across, along, width, depth, to);
  }
};

#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
/// Pairs of neighbours along k, rounded to bf16 as they are packed.
struct Bf16MicroKernels {
  using Element = float;
  using Factor = Bf16Pair;
  using SourceOfA = float;
  using SourceOfB = float;
  static constexpr std::int64_t kElements = 2;
  static constexpr bool kConverts = true;

  template <std::int64_t kWidth>
  static void pack(const float* from, std::int64_t across, std::int64_t along,
                   std::int64_t width, std::int64_t depth, Bf16Pair* to) {
    pack_pairs<kWidth>(from, across, along, width, depth, to);
  }

  static void pack_rows(const float* from, std::int64_t from_step,
                        std::int64_t rows, std::int64_t depth, Bf16Pair* to,
                        std::int64_t to_step) {
    pack_pairs_along(from, from_step, rows, depth, to, to_step);
  }

  /// Rows of which each is a k; an odd last one has a partner of zeros.
  static void pack_columns(const float* from, std::int64_t from_step,
                           std::int64_t depth, std::int64_t columns,
                           Bf16Pair* to, std::int64_t to_step) {
    pack_pairs_across(from, from_step, depth, columns, to, to_step);
  }

  template <Walk kWalk, int kVectors>
  static void run(const TileArgs<float, Bf16Pair>& tile, std::size_t rows) {
    kBf16Tiles<kWalk, kVectors>[rows - 1](tile);
  }
};
#endif

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
