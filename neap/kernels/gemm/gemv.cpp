// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/gemm/gemv.hpp"

#include <algorithm>
#include <type_traits>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/gemm/gemv_problem.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/gemm/gemv.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/gemm/gemv-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

bool has_gemv() {
  return kHasGemv;
}

void gemv_f32(const GemvProblem<float>& p, std::int64_t begin,
              std::int64_t end) {
  part(p, begin, end);
}

void gemv_f64(const GemvProblem<double>& p, std::int64_t begin,
              std::int64_t end) {
  part(p, begin, end);
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(has_gemv);
HWY_EXPORT(gemv_f32);
HWY_EXPORT(gemv_f64);

constexpr std::int64_t kFewest = 8;  // elements of C, else most lanes are idle
constexpr std::int64_t kLine =
    64;  // elements of C of a thread's smallest range
constexpr std::int64_t kPartWork = 64 * 1024;  // multiply-adds worth a thread

// Rows of C that a large matrix is read for at once, rather than copied.
constexpr std::int64_t kFew = 8;

template <class T>
GemvProblem<T> problem_of(const Gemm<T>& product) noexcept {
  const bool is_row = product.m == 1 || product.n != 1;
  const GemmOperand<T>& matrix = is_row ? product.b : product.a;
  const GemmOperand<T>& x = is_row ? product.a : product.b;
  return {.matrix = matrix.data,
          .c_step = is_row ? matrix.column_stride : matrix.row_stride,
          .k_step = is_row ? matrix.row_stride : matrix.column_stride,
          .x = x.data,
          .x_stride = is_row ? x.column_stride : x.row_stride,
          .x_step = is_row ? x.row_stride : 0,
          .vectors = is_row ? product.m : 1,
          .count = is_row ? product.n : product.m,
          .k = product.k,
          .c = product.c,
          .start = product.start,
          .bias = product.bias,
          .bias_stride = is_row ? product.bias_stride : 0,
          .ends_in_relu = product.end == GemmEnd::kRelu};
}

void run(const GemvProblem<float>& p, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(gemv_f32)(p, begin, end);
}
void run(const GemvProblem<double>& p, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(gemv_f64)(p, begin, end);
}

}  // namespace

template <class T>
bool is_gemv(const Gemm<T>& product) noexcept {
  const bool is_bf16 =
      std::is_same_v<T, float> && product.precision == Precision::kBf16;
  if ((product.m > kFew && product.n != 1) || product.m == 0 ||
      product.n == 0 || product.k == 0 || is_bf16 ||
      gemm_batch_count(product.batch) != 1) {
    return false;
  }
  const GemvProblem<T> p = problem_of(product);
  const bool is_good = p.vectors == 1 ? p.c_step == 1 || p.k_step == 1
                                      : p.k_step == 1 && is_far(p);
  return is_good && p.count >= kFewest && HWY_DYNAMIC_DISPATCH(has_gemv)();
}

template <class T>
void gemv(const Gemm<T>& product, threads::Executor& executor) noexcept {
  const GemvProblem<T> p = problem_of(product);
  const std::int64_t grain = kPartWork / p.k / kLine * kLine + kLine;
  threads::parallel_for(executor, p.count, grain,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          run(p, begin, end);
                        });
}

template bool is_gemv(const Gemm<float>&) noexcept;
template bool is_gemv(const Gemm<double>&) noexcept;
template void gemv(const Gemm<float>&, threads::Executor&) noexcept;
template void gemv(const Gemm<double>&, threads::Executor&) noexcept;

}  // namespace neap::kernels
#endif  // HWY_ONCE
