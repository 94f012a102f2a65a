// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/norm/causal_softmax.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/norm/causal_softmax.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/norm/softmax-inl.hpp"

#ifndef NEAP_KERNELS_CAUSAL_SOFTMAX_ONCE
#define NEAP_KERNELS_CAUSAL_SOFTMAX_ONCE
namespace neap::kernels {
namespace {

// How many columns, from the first on, row `row` of all sees.
inline std::int64_t seen_by(const Args& args, std::int64_t row) noexcept {
  const Shape& shape = args.out[0].shape;
  return std::clamp<std::int64_t>(
      row % shape.back(2) + args.attrs_as<CausalAttrs>().diagonal + 1, 0,
      shape.back(1));
}

}  // namespace
}  // namespace neap::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// e^(scale (x - m))
template <class T>
struct ScaledExpAbove {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_of(d, hn::Mul(hn::Sub(x, hn::Set(d, m)), hn::Set(d, scale)));
  }
  T m;
  T scale;
};

struct Nothing {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V /*x*/) const {
    return hn::Zero(d);
  }
};

template <class T>
void causal_range(const Args& args, std::int64_t begin, std::int64_t end) {
  const int axis = args.in[0].shape.rank() - 1;
  const auto scale = static_cast<T>(args.attrs_as<CausalAttrs>().scale);
  const Rows x(args.in[0], axis);
  const Rows y(args.out[0], axis);
  RowIn<T> in(x);
  RowIn<T> again(y);  // what was written
  RowBlock<T> out(y);
  const auto map = [&](const auto& op, std::int64_t from, std::int64_t to,
                       T* row, RowIn<T>& read) HWY_ATTR {
    for_each_block(
        to - from, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
          const std::int64_t at = from + first;
          map_block(op, count, out.place(row, at), read.read(at, count));
          out.commit(row, at, count);
        });
  };
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t seen = seen_by(args, row);
    T* to = y.at<T>(row);
    in.go_to(row);
    again.go_to(row);
    const T m = largest_of_row(seen, in);
    map(ScaledExpAbove<T>{m, scale}, 0, seen, to, in);
    const T sum = sum_of_row<T>(Itself(), seen, again);
    map(Times<T>{T(1) / sum}, 0, seen, to, again);
    map(Nothing(), seen, y.length(), to, in);
  }
}

}  // namespace

RowsFunction causal_softmax_rows(DType dtype) {
  return dtype == f32 ? causal_range<float> : causal_range<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(causal_softmax_rows);

void causal_softmax(const Args& args) noexcept {
  run_rows(args, Rows(args.in[0], args.in[0].shape.rank() - 1),
           HWY_DYNAMIC_DISPATCH(causal_softmax_rows)(args.in[0].dtype));
}

// In double, rounded once.
template <class T>
void causal_softmax_reference(const Args& args) noexcept {
  const int axis = args.in[0].shape.rank() - 1;
  const double scale = args.attrs_as<CausalAttrs>().scale;
  const Rows x(args.in[0], axis);
  const Rows y(args.out[0], axis);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    const std::int64_t seen = seen_by(args, row);
    const T* from = x.at<const T>(row);
    const auto at = [&](std::int64_t i) {
      return static_cast<double>(from[i * x.stride()]);
    };
    double m = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < seen; ++i) {
      m = at(i) > m ? at(i) : m;  // std::fmax ends g++ 12 for ARM64
    }
    double sum = 0.0;
    for (std::int64_t i = 0; i < seen; ++i) {
      sum += std::exp(scale * (at(i) - m));
    }
    for (std::int64_t i = 0; i < x.length(); ++i) {
      y.at<T>(row)[i * y.stride()] =
          i < seen ? static_cast<T>(std::exp(scale * (at(i) - m)) / sum) : T{};
    }
  }
}

constexpr std::array kKernels = float_rows<"causal_softmax">(
    {.run = causal_softmax}, {causal_softmax_reference<float>},
    {causal_softmax_reference<double>});

}  // namespace

constinit const KernelList causal_softmax_kernels{"causal_softmax", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
