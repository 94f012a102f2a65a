// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/cross_entropy.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "neap/kernels/rows.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/cross_entropy.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/softmax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// lse[i] of rows [begin, end).
template <class T>
void lse_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  const Rows x(args.in[0], 1);       // (N, C)
  const Strided& lse = args.out[1];  // (N)
  RowBlock<T> block(x);
  for (std::int64_t row = begin; row < end; ++row) {
    const RowTotal<T> total = total_of(block, x.at<const T>(row), x.length());
    element<T>(lse, row) = total.m + log_of_one(total.sum);
  }
}

template <class T>
struct Scale {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, hn::Set(d, factor));
  }
  T factor;
};

// dx = (e^(x - lse) - onehot) factor of one row. A block is computed in
// `softmax` first, where the label's element can be corrected.
template <class T>
void grad_row(const Rows& x, const Rows& dx, std::int64_t row,
              std::int64_t label, T lse, T factor) {
  RowBlock<T> in(x);
  RowBlock<T> out(dx);
  HWY_ALIGN T softmax[kReduceBlock];
  const T* from = x.at<const T>(row);
  T* to = dx.at<T>(row);
  for (std::int64_t first = 0; first < x.length(); first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, x.length() - first);
    map_arrays(ExpAbove<T>{lse}, count, softmax, in.read(from, first, count));
    if (label >= first && label < first + count) {
      softmax[label - first] -= T(1);
    }
    map_arrays(Scale<T>{factor}, count, out.place(to, first),
               static_cast<const T*>(softmax));
    out.commit(to, first, count);
  }
}

template <class T>
void grad_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  const T g = *args.in[0].as<const T>();
  const Rows x(args.in[1], 1);  // (N, C)
  const Rows dx(args.out[0], 1);
  const T factor = g / static_cast<T>(x.count());
  for (std::int64_t row = begin; row < end; ++row) {
    const auto label = element<std::int64_t>(args.in[2], row);
    const bool is_known = label >= 0 && label < x.length();
    grad_row(x, dx, row, label, element<T>(args.in[3], row),
             is_known ? factor : std::numeric_limits<T>::quiet_NaN());
  }
}

}  // namespace

RowsFunction cross_entropy_rows(DType dtype) {
  return dtype == f32 ? lse_rows<float> : lse_rows<double>;
}

RowsFunction cross_entropy_grad_rows(DType dtype) {
  return dtype == f32 ? grad_rows<float> : grad_rows<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(cross_entropy_rows);
HWY_EXPORT(cross_entropy_grad_rows);

// (1/N) sum_i (lse_i - x[i, label_i]), in double and in index order.
template <class T>
double mean_loss(const Args& args) noexcept {
  const Strided& x = args.in[0];       // (N, C)
  const Strided& labels = args.in[1];  // (N)
  const std::int64_t samples = x.shape[0];
  const std::int64_t classes = x.shape[1];
  double total = 0.0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto label = element<std::int64_t>(labels, i);
    if (label < 0 || label >= classes) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const T at_label = x.as<T>()[i * x.strides[0] + label * x.strides[1]];
    total += static_cast<double>(element<T>(args.out[1], i)) -
             static_cast<double>(at_label);
  }
  return samples == 0 ? 0.0 : total / static_cast<double>(samples);
}

template <class T>
void cross_entropy(const Args& args) noexcept {
  run_rows(args, Rows(args.in[0], 1),
           HWY_DYNAMIC_DISPATCH(cross_entropy_rows)(args.in[0].dtype));
  *args.out[0].as<T>() = static_cast<T>(mean_loss<T>(args));
}

void cross_entropy_grad(const Args& args) noexcept {
  run_rows(args, Rows(args.in[1], 1),
           HWY_DYNAMIC_DISPATCH(cross_entropy_grad_rows)(args.in[0].dtype));
}

template <class T>
void cross_entropy_reference(const Args& args) noexcept {
  const Strided& x = args.in[0];
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    const T* row = x.as<T>() + i * x.strides[0];
    double m = -std::numeric_limits<double>::infinity();
    for (std::int64_t c = 0; c < x.shape[1]; ++c) {
      m = larger(m, static_cast<double>(row[c * x.strides[1]]));
    }
    double sum = 0.0;
    for (std::int64_t c = 0; c < x.shape[1]; ++c) {
      sum += std::exp(static_cast<double>(row[c * x.strides[1]]) - m);
    }
    element<T>(args.out[1], i) = static_cast<T>(m + std::log(sum));
  }
  *args.out[0].as<T>() = static_cast<T>(mean_loss<T>(args));
}

template <class T>
void cross_entropy_grad_reference(const Args& args) noexcept {
  const auto g = static_cast<double>(*args.in[0].as<T>());
  const Strided& x = args.in[1];
  const Strided& dx = args.out[0];
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    const auto label = element<std::int64_t>(args.in[2], i);
    const bool is_known = label >= 0 && label < x.shape[1];
    const auto lse = static_cast<double>(element<T>(args.in[3], i));
    for (std::int64_t c = 0; c < x.shape[1]; ++c) {
      const auto at = x.as<T>()[i * x.strides[0] + c * x.strides[1]];
      const double softmax = std::exp(static_cast<double>(at) - lse);
      const double slope = (softmax - (c == label ? 1.0 : 0.0)) * g /
                           static_cast<double>(x.shape[0]);
      dx.as<T>()[i * dx.strides[0] + c * dx.strides[1]] =
          is_known ? static_cast<T>(slope)
                   : std::numeric_limits<T>::quiet_NaN();
    }
  }
}

constexpr std::array kForward{
    Kernel{
        .name = "cross_entropy.f32", .dtype = f32, .run = cross_entropy<float>},
    Kernel{.name = "cross_entropy.f64",
           .dtype = f64,
           .run = cross_entropy<double>},
    Kernel{.name = "cross_entropy.reference.f32",
           .dtype = f32,
           .run = cross_entropy_reference<float>},
    Kernel{.name = "cross_entropy.reference.f64",
           .dtype = f64,
           .run = cross_entropy_reference<double>},
};

constexpr std::array kGrad{
    Kernel{.name = "cross_entropy_grad.f32",
           .dtype = f32,
           .run = cross_entropy_grad},
    Kernel{.name = "cross_entropy_grad.f64",
           .dtype = f64,
           .run = cross_entropy_grad},
    Kernel{.name = "cross_entropy_grad.reference.f32",
           .dtype = f32,
           .run = cross_entropy_grad_reference<float>},
    Kernel{.name = "cross_entropy_grad.reference.f64",
           .dtype = f64,
           .run = cross_entropy_grad_reference<double>},
};

}  // namespace

constinit const KernelList cross_entropy_kernels{"cross_entropy", kForward};
constinit const KernelList cross_entropy_grad_kernels{"cross_entropy_grad",
                                                      kGrad};

}  // namespace neap::kernels
#endif  // HWY_ONCE
