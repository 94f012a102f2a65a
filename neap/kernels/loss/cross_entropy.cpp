// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/loss/cross_entropy.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/loss/cross_entropy_rows.hpp"
#include "neap/kernels/loss/row_losses.hpp"
#include "neap/kernels/loss/samples.hpp"
#include "neap/kernels/reduction/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/loss/cross_entropy.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/norm/softmax_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// The mean of each row goes to the scratch, where labels are smoothed.
double* means_of(const Args& args) {
  return reinterpret_cast<double*>(args.scratch.data());
}

bool smooths(const Args& args) {
  return args.attrs_as<CrossEntropyAttrs>().label_smoothing != 0.0;
}

template <class T>
void lse_tiles(const Args& args, const Rows& x, std::int64_t begin,
               std::int64_t end) {
  using V = typename Tile<T>::V;
  const hn::ScalableTag<T> d;
  Tile<T> tile(x);
  HWY_ALIGN T lanes[Tile<T>::kRows];
  for_each_tile<T>(
      begin, end, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
        tile.load(x, first, count);
        const V m = largest_of_tile(tile);
        const V sum = sum_of_tile(ExpAbove<V>{m}, tile);
        hn::Store(hn::Add(m, log_of(d, sum)), d, lanes);
        for (std::int64_t r = 0; r < count; ++r) {
          element<T>(args.out[1], first + r) = lanes[r];
        }
        if (smooths(args)) {
          hn::Store(sum_of_tile(Itself(), tile), d, lanes);
          for (std::int64_t r = 0; r < count; ++r) {
            means_of(args)[first + r] =
                static_cast<double>(lanes[r]) / static_cast<double>(x.length());
          }
        }
      });
}

// lse[i] of rows [begin, end).
template <class T>
void lse_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  const Rows x(args.in[0], 1);       // (N, C)
  const Strided& lse = args.out[1];  // (N)
  if (Tile<T>::takes(x)) {
    return lse_tiles<T>(args, x, begin, end);
  }
  RowIn<T> in(x);
  for (std::int64_t row = begin; row < end; ++row) {
    in.go_to(row);
    const T m = largest_of_row(x.length(), in);
    const T sum = sum_of_row<T>(ExpAbove<T>{m}, x.length(), in);
    element<T>(lse, row) = m + log_of_one(sum);
    if (smooths(args)) {
      const T total = sum_of_row<T>(Itself(), x.length(), in);
      means_of(args)[row] =
          static_cast<double>(total) / static_cast<double>(x.length());
    }
  }
}

// e^(x - lse) - share
template <class C, class T>
struct SoftmaxLess {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Sub(exp_of(d, hn::Sub(x, spread(d, lse))), hn::Set(d, share));
  }
  C lse;
  T share;
};

struct Nothing {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V) const {
    return hn::Zero(d);
  }
};

// The operands of a derivative of rows.
template <class T>
struct Backward {
  explicit Backward(const Args& args)
      : x(args.in[1], 1),
        dx(args.out[0], 1),
        lse(args.in[3]),
        samples(args.in[2], x.length(), args.attrs_as<CrossEntropyAttrs>()),
        factor(samples, args.in[0]),
        own(static_cast<T>(samples.own_share())),
        each(static_cast<T>(samples.each_share())) {}

  Rows x;   // (N, C)
  Rows dx;  // (N, C)
  const Strided& lse;
  Samples samples;
  SampleFactors<T> factor;
  T own;   // weight of the label
  T each;  // of every class
};

template <class T>
void grad_tiles(const Backward<T>& b, std::int64_t begin, std::int64_t end) {
  using V = typename Tile<T>::V;
  const hn::ScalableTag<T> d;
  Tile<T> tile(b.x);
  HWY_ALIGN T lse[Tile<T>::kRows] = {};
  HWY_ALIGN T factor[Tile<T>::kRows] = {};
  for_each_tile<T>(
      begin, end, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
        for (std::int64_t r = 0; r < count; ++r) {
          lse[r] = element<T>(b.lse, first + r);
          factor[r] = b.factor(first + r);
        }
        tile.load(b.x, first, count);
        map_tile(SoftmaxLess<V, T>{hn::Load(d, lse), b.each}, tile, tile);
        for (std::int64_t r = 0; r < count; ++r) {
          if (b.samples.is_known(first + r)) {
            tile.at(b.samples.label(first + r))[r] -= b.own;
          }
        }
        map_tile(Times<V>{hn::Load(d, factor)}, tile, tile);
        for (std::int64_t r = 0; r < count; ++r) {
          for (std::int64_t j = 0;
               j < tile.length() && b.samples.is_ignored(first + r); ++j) {
            tile.at(j)[r] = T(0);
          }
        }
        tile.store(b.dx, first, count);
      });
}

// A block is computed in `slope` first, where the label's element can be
// corrected.
template <class T>
void grad_row(const Backward<T>& b, RowIn<T>& in, RowBlock<T>& out,
              std::int64_t row) {
  HWY_ALIGN T slope[kReduceBlock];
  T* to = b.dx.template at<T>(row);
  const std::int64_t label = b.samples.label(row);
  const SoftmaxLess<T, T> op{element<T>(b.lse, row), b.each};
  const Times<T> scale{b.factor(row)};
  for_each_block(b.x.length(), [&](std::int64_t first,
                                   std::int64_t count) HWY_ATTR {
    map_block(op, count, slope, in.read(first, count));
    if (label >= first && label < first + count) {
      slope[label - first] -= b.own;
    }
    map_block(scale, count, out.place(to, first), static_cast<const T*>(slope));
    out.commit(to, first, count);
  });
}

template <class T>
void grad_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  const Backward<T> b(args);
  if (Tile<T>::takes(b.x)) {
    return grad_tiles<T>(b, begin, end);
  }
  RowIn<T> in(b.x);
  RowBlock<T> out(b.dx);
  for (std::int64_t row = begin; row < end; ++row) {
    in.go_to(row);
    if (b.samples.is_ignored(row)) {
      map_row(Nothing(), b.dx, out, row, in);
    } else {
      grad_row(b, in, out, row);
    }
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

// The losses of the samples from lse and the rows' means; reduced in double and
// in index order.
template <class T>
void reduce_losses(const Args& args) noexcept {
  const Samples samples(args.in[1], args.in[0].shape[1],
                        args.attrs_as<CrossEntropyAttrs>());
  const RowLosses<T> losses(args.in[0], args.out[1], samples,
                            means_of_rows(args));
  const LossReduction reduction = samples.reduction();
  LossSum sum;
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    const double loss = losses(i);
    sum.add(loss, samples.is_ignored(i));
    if (reduction == LossReduction::kNone) {
      element<T>(args.out[0], i) = static_cast<T>(loss);
    }
  }
  if (reduction != LossReduction::kNone) {
    *args.out[0].as<T>() = static_cast<T>(sum.reduced(reduction));
  }
}

template <class T>
void cross_entropy(const Args& args) noexcept {
  lse_of_rows(args);
  reduce_losses<T>(args);
}

void cross_entropy_grad(const Args& args) noexcept {
  run_rows(args, Rows(args.in[1], 1),
           HWY_DYNAMIC_DISPATCH(cross_entropy_grad_rows)(args.in[0].dtype));
}

template <class T>
void plain_lse_of_rows(const Args& args) noexcept {
  const Strided& x = args.in[0];
  auto* means = bytes_of_means(args) == 0
                    ? nullptr
                    : reinterpret_cast<double*>(args.scratch.data());
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    const auto at = [&](std::int64_t c) {
      return static_cast<double>(
          x.as<T>()[i * x.strides[0] + c * x.strides[1]]);
    };
    double m = -std::numeric_limits<double>::infinity();
    double plain = 0.0;
    for (std::int64_t c = 0; c < x.shape[1]; ++c) {
      m = larger(m, at(c));
      plain += at(c);
    }
    double sum = 0.0;
    for (std::int64_t c = 0; c < x.shape[1]; ++c) {
      sum += std::exp(at(c) - m);
    }
    element<T>(args.out[1], i) = static_cast<T>(m + std::log(sum));
    if (means != nullptr) {
      means[i] = plain / static_cast<double>(x.shape[1]);
    }
  }
}

template <class T>
void cross_entropy_reference(const Args& args) noexcept {
  lse_of_rows_reference(args);
  reduce_losses<T>(args);
}

template <class T>
void cross_entropy_grad_reference(const Args& args) noexcept {
  const Strided& x = args.in[1];
  const Strided& dx = args.out[0];
  const Samples samples(args.in[2], x.shape[1],
                        args.attrs_as<CrossEntropyAttrs>());
  const SampleFactors<T> factor(samples, args.in[0]);
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    const auto lse = static_cast<double>(element<T>(args.in[3], i));
    for (std::int64_t c = 0; c < x.shape[1]; ++c) {
      const auto at = x.as<T>()[i * x.strides[0] + c * x.strides[1]];
      const double own = c == samples.label(i) ? samples.own_share() : 0.0;
      const double slope =
          std::exp(static_cast<double>(at) - lse) - samples.each_share() - own;
      dx.as<T>()[i * dx.strides[0] + c * dx.strides[1]] =
          samples.is_ignored(i)
              ? T(0)
              : static_cast<T>(slope * static_cast<double>(factor(i)));
    }
  }
}

constexpr std::array kForward = float_rows<"cross_entropy">(
    {.run = cross_entropy<float>, .scratch = bytes_of_means},
    {.run = cross_entropy<double>, .scratch = bytes_of_means},
    {.run = cross_entropy_reference<float>, .scratch = bytes_of_means},
    {.run = cross_entropy_reference<double>, .scratch = bytes_of_means});

constexpr std::array kGrad = float_rows<"cross_entropy_grad">(
    {.run = cross_entropy_grad}, {cross_entropy_grad_reference<float>},
    {cross_entropy_grad_reference<double>});

}  // namespace

void lse_of_rows(const Args& args) noexcept {
  run_rows(args, Rows(args.in[0], 1),
           HWY_DYNAMIC_DISPATCH(cross_entropy_rows)(args.in[0].dtype));
}

void lse_of_rows_reference(const Args& args) noexcept {
  args.in[0].dtype == f32 ? plain_lse_of_rows<float>(args)
                          : plain_lse_of_rows<double>(args);
}

Bytes bytes_of_means(const Args& args) noexcept {
  const bool smooths =
      args.attrs_as<CrossEntropyAttrs>().label_smoothing != 0.0;
  return smooths ? args.in[0].shape[0] * static_cast<Bytes>(sizeof(double)) : 0;
}

const double* means_of_rows(const Args& args) noexcept {
  return bytes_of_means(args) == 0
             ? nullptr
             : reinterpret_cast<const double*>(args.scratch.data());
}

constinit const KernelList cross_entropy_kernels{"cross_entropy", kForward};
constinit const KernelList cross_entropy_grad_kernels{"cross_entropy_grad",
                                                      kGrad};

}  // namespace neap::kernels
#endif  // HWY_ONCE
