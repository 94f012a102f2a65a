// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/sum_of_squares.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/reduce_kernels.hpp"
#include "neap/kernels/reduction/reduce_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reduction/sum_of_squares.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduction/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

struct SquareVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
};

// In double from the start, so that squares neither overflow nor round where x
// is f32. All axes are reduced: there are no columns.
template <class T>
struct SumOfSquaresOf {
  using In = T;
  using State = double;
  static constexpr std::int64_t kBlockRows = kReduceBlock;

  static double neutral() { return 0.0; }
  static double row(const T* x, std::int64_t count) {
    return reduce_block<AddVectors>(SquareVector(), x, count, double());
  }
  static void columns(const Tile& tile, double* parts) {
    HWY_ALIGN double totals[kReduceColumns];
    reduce_columns<AddVectors, T>(SquareVector(), tile, totals);
    std::copy_n(totals, tile.columns, parts);
  }
  static void join(double& total, const double& part, double, double) {
    total += part;
  }
  static void finish(const double* totals, std::int64_t count,
                     const ReduceFinish& finish) {
    std::copy_n(totals, count, finish.at<double>(0));
  }
};

}  // namespace

Reduction sum_of_squares_of(DType dtype) {
  return reduction_by_float<SumOfSquaresOf>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sum_of_squares_of);

constexpr std::uint64_t kAllAxes = ~std::uint64_t{0};

Reduction reduction_for(const Args& args) noexcept {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares_of)(args.in[0].dtype);
}

// The call with its one output seen with the rank of x.
template <class Run>
auto with_total(const Args& args, const Run& run) noexcept {
  const int rank = args.in[0].shape.rank();
  Strided total = args.out[0];
  total.shape = Shape::filled(rank, 1);
  total.strides = Shape::filled(rank, 0);
  Args reduction = args;
  reduction.out = {&total, 1};
  return run(reduction);
}

void sum_of_squares(const Args& args) noexcept {
  with_total(args, [](const Args& call) {
    run_reduction(call, kAllAxes, reduction_for(call));
  });
}

Bytes scratch(const Args& args) noexcept {
  return with_total(args, [](const Args& call) {
    return reduction_scratch(call, kAllAxes, reduction_for(call));
  });
}

template <class T>
void sum_of_squares_reference(const Args& args) noexcept {
  const detail::AxesOf list(args.in[0], kAllAxes, true);
  double total = 0.0;
  for (std::int64_t first = 0; first < list.count(); first += kReduceBlock) {
    total += detail::block_reference(
        args.in[0].as<T>(), list, first, 0.0,
        [](double a, double b) { return a + b; },
        [](T x) { return static_cast<double>(x) * static_cast<double>(x); });
  }
  *args.out[0].as<double>() = total;
}

constexpr std::array kKernels = float_rows<"sum_of_squares">(
    {.run = sum_of_squares, .scratch = scratch},
    {sum_of_squares_reference<float>}, {sum_of_squares_reference<double>});

}  // namespace

constinit const KernelList sum_of_squares_kernels{"sum_of_squares", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
