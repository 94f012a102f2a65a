// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/log_softmax.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/rows.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/log_softmax.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/softmax_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// y = x - m - ln s
template <class C>
struct Normalise {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Sub(hn::Sub(x, spread(d, m)), spread(d, log_sum));
  }
  C m;
  C log_sum;
};

// dx = g - e^y s
template <class C>
struct Derive {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    return hn::NegMulAdd(exp_of(d, y), spread(d, sum), g);
  }
  C sum;
};

template <class T>
void forward_tiles(const Rows& x, const Rows& y, std::int64_t begin,
                   std::int64_t end) {
  using V = typename Tile<T>::V;
  const hn::ScalableTag<T> d;
  Tile<T> tile(x);
  for_each_tile<T>(
      begin, end, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
        tile.load(x, first, count);
        const V m = largest_of_tile(tile);
        const V log_sum = log_of(d, sum_of_tile(ExpAbove<V>{m}, tile));
        map_tile(Normalise<V>{m, log_sum}, tile, tile);
        tile.store(y, first, count);
      });
}

template <class T>
void forward_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  const int axis = static_cast<int>(args.attrs_as<AxisAttrs>().axis);
  const Rows x(args.in[0], axis);
  const Rows y(args.out[0], axis);
  if (Tile<T>::takes(x)) {
    return forward_tiles<T>(x, y, begin, end);
  }
  RowIn<T> in(x);
  RowBlock<T> out(y);
  for (std::int64_t row = begin; row < end; ++row) {
    in.go_to(row);
    const T m = largest_of_row(x.length(), in);
    const T sum = sum_of_row<T>(ExpAbove<T>{m}, x.length(), in);
    map_row(Normalise<T>{m, log_of_one(sum)}, y, out, row, in);
  }
}

template <class T>
void grad_tiles(const Rows& g, const Rows& y, const Rows& dx,
                std::int64_t begin, std::int64_t end) {
  using V = typename Tile<T>::V;
  Tile<T> g_tile(g);
  Tile<T> y_tile(y);
  for_each_tile<T>(begin, end,
                   [&](std::int64_t first, std::int64_t count) HWY_ATTR {
                     g_tile.load(g, first, count);
                     y_tile.load(y, first, count);
                     const Derive<V> op{sum_of_tile(Itself(), g_tile)};
                     map_tile(op, g_tile, g_tile, y_tile);
                     g_tile.store(dx, first, count);
                   });
}

template <class T>
void grad_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  const int axis = static_cast<int>(args.attrs_as<AxisAttrs>().axis);
  const Rows g(args.in[0], axis);
  const Rows y(args.in[1], axis);
  const Rows dx(args.out[0], axis);
  if (Tile<T>::takes(g)) {
    return grad_tiles<T>(g, y, dx, begin, end);
  }
  RowIn<T> g_in(g);
  RowIn<T> y_in(y);
  RowBlock<T> out(dx);
  for (std::int64_t row = begin; row < end; ++row) {
    g_in.go_to(row);
    y_in.go_to(row);
    const T sum = sum_of_row<T>(Itself(), g.length(), g_in);
    map_row(Derive<T>{sum}, dx, out, row, g_in, y_in);
  }
}

}  // namespace

RowsFunction log_softmax_rows(DType dtype) {
  return dtype == f32 ? forward_rows<float> : forward_rows<double>;
}

RowsFunction log_softmax_grad_rows(DType dtype) {
  return dtype == f32 ? grad_rows<float> : grad_rows<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(log_softmax_rows);
HWY_EXPORT(log_softmax_grad_rows);

int axis_of(const Args& args) noexcept {
  return static_cast<int>(args.attrs_as<AxisAttrs>().axis);
}

void log_softmax(const Args& args) noexcept {
  run_rows(args, Rows(args.in[0], axis_of(args)),
           HWY_DYNAMIC_DISPATCH(log_softmax_rows)(args.in[0].dtype));
}

void log_softmax_grad(const Args& args) noexcept {
  run_rows(args, Rows(args.in[0], axis_of(args)),
           HWY_DYNAMIC_DISPATCH(log_softmax_grad_rows)(args.in[0].dtype));
}

// In double, rounded once.
template <class T>
void log_softmax_reference(const Args& args) noexcept {
  const Rows x(args.in[0], axis_of(args));
  const Rows y(args.out[0], axis_of(args));
  for (std::int64_t row = 0; row < x.count(); ++row) {
    const T* from = x.at<const T>(row);
    double m = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < x.length(); ++i) {
      m = larger(m, static_cast<double>(from[i * x.stride()]));
    }
    double sum = 0.0;
    for (std::int64_t i = 0; i < x.length(); ++i) {
      sum += std::exp(static_cast<double>(from[i * x.stride()]) - m);
    }
    for (std::int64_t i = 0; i < x.length(); ++i) {
      y.at<T>(row)[i * y.stride()] = static_cast<T>(
          static_cast<double>(from[i * x.stride()]) - m - std::log(sum));
    }
  }
}

template <class T>
void log_softmax_grad_reference(const Args& args) noexcept {
  const Rows g(args.in[0], axis_of(args));
  const Rows y(args.in[1], axis_of(args));
  const Rows dx(args.out[0], axis_of(args));
  for (std::int64_t row = 0; row < g.count(); ++row) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < g.length(); ++i) {
      sum += static_cast<double>(g.at<T>(row)[i * g.stride()]);
    }
    for (std::int64_t i = 0; i < g.length(); ++i) {
      const auto gi = static_cast<double>(g.at<T>(row)[i * g.stride()]);
      const auto yi = static_cast<double>(y.at<T>(row)[i * y.stride()]);
      dx.at<T>(row)[i * dx.stride()] = static_cast<T>(gi - std::exp(yi) * sum);
    }
  }
}

constexpr std::array kForward{
    Kernel{.name = "log_softmax.f32", .dtype = f32, .run = log_softmax},
    Kernel{.name = "log_softmax.f64", .dtype = f64, .run = log_softmax},
    Kernel{.name = "log_softmax.reference.f32",
           .dtype = f32,
           .run = log_softmax_reference<float>},
    Kernel{.name = "log_softmax.reference.f64",
           .dtype = f64,
           .run = log_softmax_reference<double>},
};

constexpr std::array kGrad{
    Kernel{
        .name = "log_softmax_grad.f32", .dtype = f32, .run = log_softmax_grad},
    Kernel{
        .name = "log_softmax_grad.f64", .dtype = f64, .run = log_softmax_grad},
    Kernel{.name = "log_softmax_grad.reference.f32",
           .dtype = f32,
           .run = log_softmax_grad_reference<float>},
    Kernel{.name = "log_softmax_grad.reference.f64",
           .dtype = f64,
           .run = log_softmax_grad_reference<double>},
};

}  // namespace

constinit const KernelList log_softmax_kernels{"log_softmax", kForward};
constinit const KernelList log_softmax_grad_kernels{"log_softmax_grad", kGrad};

}  // namespace neap::kernels
#endif  // HWY_ONCE
