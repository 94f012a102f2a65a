// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/gemm/gemm.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/gemm/gemm.hpp"
#include "neap/kernels/gemm/gemm_part-inl.hpp"
#include "neap/kernels/gemm/gemm_plan.hpp"
#include "neap/kernels/gemm/gemv.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

void run_part_f32(const Gemm<float>& product, const GemmPlan& plan,
                  std::int64_t part, std::byte* scratch) {
  run_part<PlainMicroKernels<float>>(product, plan, part, scratch);
}

void run_part_half_a(const Gemm<float>& product, const GemmPlan& plan,
                     std::int64_t part, std::byte* scratch) {
  run_part<WideningMicroKernels<BFloat16, float>>(product, plan, part, scratch);
}

void run_part_half_b(const Gemm<float>& product, const GemmPlan& plan,
                     std::int64_t part, std::byte* scratch) {
  run_part<WideningMicroKernels<float, BFloat16>>(product, plan, part, scratch);
}

void run_part_f64(const Gemm<double>& product, const GemmPlan& plan,
                  std::int64_t part, std::byte* scratch) {
  run_part<PlainMicroKernels<double>>(product, plan, part, scratch);
}

void run_part_bf16(const Gemm<float>& product, const GemmPlan& plan,
                   std::int64_t part, std::byte* scratch) {
#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
  run_part<Bf16MicroKernels>(product, plan, part, scratch);
#else
  static_cast<void>(plan);  // has_bf16_dot() is false
  static_cast<void>(part);
  static_cast<void>(scratch);
  gemm_reference(product);
#endif
}

GemmTile tile_f32() {
  return {.rows = kTileRows, .lanes = kLanes<float>};
}

GemmTile tile_f64() {
  return {.rows = kTileRows, .lanes = kLanes<double>};
}

bool fuses() {
  return HWY_NATIVE_FMA != 0;
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(run_part_f32);
HWY_EXPORT(run_part_half_a);
HWY_EXPORT(run_part_half_b);
HWY_EXPORT(run_part_f64);
HWY_EXPORT(run_part_bf16);
HWY_EXPORT(tile_f32);
HWY_EXPORT(tile_f64);
HWY_EXPORT(fuses);

GemmTile tile_of(float /* type */) {
  return HWY_DYNAMIC_DISPATCH(tile_f32)();
}
GemmTile tile_of(double /* type */) {
  return HWY_DYNAMIC_DISPATCH(tile_f64)();
}

void dispatch(const Gemm<float>& product, const GemmPlan& plan, int part,
              std::byte* scratch) {
  if (product.precision == Precision::kBf16) {
    HWY_DYNAMIC_DISPATCH(run_part_bf16)(product, plan, part, scratch);
  } else if (product.a.is_half) {
    HWY_DYNAMIC_DISPATCH(run_part_half_a)(product, plan, part, scratch);
  } else if (product.b.is_half) {
    HWY_DYNAMIC_DISPATCH(run_part_half_b)(product, plan, part, scratch);
  } else {
    HWY_DYNAMIC_DISPATCH(run_part_f32)(product, plan, part, scratch);
  }
}
void dispatch(const Gemm<double>& product, const GemmPlan& plan, int part,
              std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(run_part_f64)(product, plan, part, scratch);
}

template <class T>
bool is_bf16(const Gemm<T>& product) noexcept {
  return std::is_same_v<T, float> && product.precision == Precision::kBf16;
}

template <class T>
GemmPlan plan_of(const Gemm<T>& product, int threads) noexcept {
  const bool converts = is_bf16(product);
  const GemmExtents extents{.batch = gemm_batch_count(product.batch),
                            .m = product.m,
                            .n = product.n,
                            .k = converts ? (product.k + 1) / 2 : product.k,
                            .a_row_stride = product.a.row_stride,
                            .a_column_stride = product.a.column_stride,
                            .b_row_stride = product.b.row_stride,
                            .b_column_stride = product.b.column_stride,
                            .element_bytes = sizeof(T),
                            .converts = converts,
                            .widens_a = product.a.is_half,
                            .widens_b = product.b.is_half};
  return plan_gemm(extents, tile_of(T{}), threads);
}

/// C^T = B^T A^T; C stays as it lies.
template <class T>
Gemm<T> swapped(const Gemm<T>& product) noexcept {
  Gemm<T> x = product;
  x.m = product.n;
  x.n = product.m;
  x.a = product.b;
  x.b = product.a;
  std::swap(x.a.row_stride, x.a.column_stride);
  std::swap(x.b.row_stride, x.b.column_stride);
  x.a_strides = product.b_strides;
  x.b_strides = product.a_strides;
  return x;
}

template <class T>
void run_plan(const Gemm<T>& product, const GemmPlan& plan,
              std::span<std::byte> scratch,
              threads::Executor& executor) noexcept {
  if (plan.parts() == 1) {  // spares small products the threads' handshake
    dispatch(product, plan, 0, scratch.data());
    return;
  }
  const Bytes part_bytes = plan.part_bytes();
  threads::parallel_parts(
      executor, static_cast<int>(plan.parts()), [&](int part) noexcept {
        dispatch(product, plan, part, scratch.data() + part * part_bytes);
      });
}

}  // namespace

template <class T>
Bytes gemm_scratch_bytes(const Gemm<T>& product, int threads) noexcept {
  if (is_gemv(product)) {
    return 0;
  }
  return plan_of(product, threads).scratch_bytes();
}

template <class T>
void gemm(const Gemm<T>& product, std::span<std::byte> scratch,
          threads::Executor& executor) noexcept {
  if (is_bf16(product) && !has_bf16_dot()) {
    gemm_reference(product);
    return;
  }
  if (is_gemv(product)) {
    gemv(product, executor);
    return;
  }
  const GemmPlan plan = plan_of(product, executor.threads());
  if (plan.swaps) {
    run_plan(swapped(product), plan, scratch, executor);
  } else {
    run_plan(product, plan, scratch, executor);
  }
}

bool gemm_fuses() noexcept {
  return HWY_DYNAMIC_DISPATCH(fuses)();
}

template Bytes gemm_scratch_bytes(const Gemm<float>&, int) noexcept;
template Bytes gemm_scratch_bytes(const Gemm<double>&, int) noexcept;
template void gemm(const Gemm<float>&, std::span<std::byte>,
                   threads::Executor&) noexcept;
template void gemm(const Gemm<double>&, std::span<std::byte>,
                   threads::Executor&) noexcept;

}  // namespace neap::kernels
#endif  // HWY_ONCE
