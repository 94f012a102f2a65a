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

void gemv_half(const GemvProblem<float, BFloat16>& p, std::int64_t begin,
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
HWY_EXPORT(gemv_half);
HWY_EXPORT(gemv_f64);

constexpr std::int64_t kFewest = 8;  // elements of C, else most lanes are idle
constexpr std::int64_t kLine =
    64;  // elements of C of a thread's smallest range
constexpr std::int64_t kPartWork = 64 * 1024;  // multiply-adds worth a thread

// Rows of C that a large matrix is read for at once, rather than copied.
constexpr std::int64_t kFew = 8;

template <class T>
bool has_rows(const Gemm<T>& product) noexcept {
  return product.m == 1 || product.n != 1;
}

template <class T>
const T* first_of(const GemmOperand<T>& operand, const T* /*type*/) noexcept {
  return operand.data;
}
const BFloat16* first_of(const GemmOperand<float>& operand,
                         const BFloat16* /*type*/) noexcept {
  return operand.half;
}

template <class Matrix, class T>
GemvProblem<T, Matrix> problem_of(const Gemm<T>& product) noexcept {
  const bool is_row = has_rows(product);
  const GemmOperand<T>& matrix = is_row ? product.b : product.a;
  const GemmOperand<T>& x = is_row ? product.a : product.b;
  return {.matrix = first_of(matrix, static_cast<const Matrix*>(nullptr)),
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
void run(const GemvProblem<float, BFloat16>& p, std::int64_t begin,
         std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(gemv_half)(p, begin, end);
}
void run(const GemvProblem<double>& p, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(gemv_f64)(p, begin, end);
}

template <class T, class Matrix>
bool is_good(const GemvProblem<T, Matrix>& p) noexcept {
  const bool lies_well = p.vectors == 1 ? p.c_step == 1 || p.k_step == 1
                                        : p.k_step == 1 && is_far(p);
  return lies_well && p.count >= kFewest;
}

template <class T, class Matrix>
void run_all(const GemvProblem<T, Matrix>& p,
             threads::Executor& executor) noexcept {
  const std::int64_t grain = kPartWork / p.k / kLine * kLine + kLine;
  threads::parallel_for(executor, p.count, grain,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          run(p, begin, end);
                        });
}

/// Whether its matrix is in bf16; a vector that is has no code of its own.
template <class T>
bool has_half_matrix(const Gemm<T>& product) noexcept {
  return has_rows(product) ? product.b.is_half : product.a.is_half;
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
  bool fits = false;
  if (!product.a.is_half && !product.b.is_half) {
    fits = is_good(problem_of<T>(product));
  } else if constexpr (std::is_same_v<T, float>) {
    fits = has_half_matrix(product) && is_good(problem_of<BFloat16>(product));
  }
  return fits && HWY_DYNAMIC_DISPATCH(has_gemv)();
}

template <class T>
void gemv(const Gemm<T>& product, threads::Executor& executor) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    if (has_half_matrix(product)) {
      run_all(problem_of<BFloat16>(product), executor);
      return;
    }
  }
  run_all(problem_of<T>(product), executor);
}

template bool is_gemv(const Gemm<float>&) noexcept;
template bool is_gemv(const Gemm<double>&) noexcept;
template void gemv(const Gemm<float>&, threads::Executor&) noexcept;
template void gemv(const Gemm<double>&, threads::Executor&) noexcept;

}  // namespace neap::kernels
#endif  // HWY_ONCE
