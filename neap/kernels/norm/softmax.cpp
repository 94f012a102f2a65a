// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/norm/softmax.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/norm/softmax.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/norm/softmax_columns-inl.hpp"
#include "neap/kernels/norm/softmax_tile-inl.hpp"

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

// dx = y (g - s), s = sum g y
struct SoftmaxGrad {
  template <class C>
  struct Derive {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V g, V y) const {
      return hn::Mul(y, hn::Sub(g, spread(d, sum)));
    }
    C sum;
  };
  template <class Sum, class In>
  static HWY_INLINE auto sum(const Sum& sum, In& g, In& y) {
    return sum(Product(), g, y);
  }
};

// dx = g - e^y s, s = sum g
struct LogSoftmaxGrad {
  template <class C>
  struct Derive {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V g, V y) const {
      return hn::NegMulAdd(exp_of(d, y), spread(d, sum), g);
    }
    C sum;
  };
  template <class Sum, class In>
  static HWY_INLINE auto sum(const Sum& sum, In& g, In& /*y*/) {
    return sum(Itself(), g);
  }
};

template <class T, bool kIsLog>
void forward_tiles(const Rows& x, const Rows& y, std::int64_t begin,
                   std::int64_t end) {
  using V = typename Tile<T>::V;
  const hn::ScalableTag<T> d;
  Tile<T> tile(x);
  for_each_tile<T>(
      begin, end, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
        tile.load(x, first, count);
        const V m = largest_of_tile(tile);
        if constexpr (kIsLog) {
          const V log_sum = log_of(d, sum_of_tile(ExpAbove<V>{m}, tile));
          map_tile(Normalise<V>{m, log_sum}, tile, tile);
        } else {
          map_tile(ExpAbove<V>{m}, tile, tile);
          const V sum = sum_of_tile(Itself(), tile);
          map_tile(Times<V>{hn::Div(hn::Set(d, T(1)), sum)}, tile, tile);
        }
        tile.store(y, first, count);
      });
}

template <class T, bool kIsLog>
void forward_columns(const Rows& x, const Rows& y, std::int64_t begin,
                     std::int64_t end) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  Strip<T> strip;
  strip.length = x.length();
  const auto at = [d](const T* row, std::size_t c)
                      HWY_ATTR { return hn::Load(d, row + c); };
  const auto exp_above = [&](std::size_t c) HWY_ATTR {
    return ExpAbove<V>{at(strip.largest, c)};
  };
  const auto strip_of = [&](std::int64_t first, std::int64_t count) HWY_ATTR {
    strip.count = static_cast<std::size_t>(count);
    const Columns<const T> from(x, first);
    const Columns<T> to(y, first);
    find_largest(strip, from);
    if constexpr (kIsLog) {
      const auto nothing = [](auto...) {};
      sum_columns(strip, exp_above, nothing, from);
      for (std::size_t c = 0; c < strip.count; c += hn::Lanes(d)) {
        hn::Store(log_of(d, at(strip.sums, c)), d, strip.sums + c);
      }
      const auto normalise = [&](std::size_t c) HWY_ATTR {
        return Normalise<V>{at(strip.largest, c), at(strip.sums, c)};
      };
      map_columns(strip, normalise, to, from);
    } else {
      const auto put = [&to](std::int64_t j, std::size_t c, V v, auto store)
                           HWY_ATTR { store(v, to.at(j) + c); };
      sum_columns(strip, exp_above, put, from);
      for (std::size_t c = 0; c < strip.count; c += hn::Lanes(d)) {
        hn::Store(hn::Div(hn::Set(d, T(1)), at(strip.sums, c)), d,
                  strip.sums + c);
      }
      const auto times = [&](std::size_t c)
                             HWY_ATTR { return Times<V>{at(strip.sums, c)}; };
      map_columns(strip, times, to, to);
    }
  };
  for_each_strip<T>(begin, end, strip_of, x, y);
}

template <class T, bool kIsLog>
void forward_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  const int axis = static_cast<int>(args.attrs_as<AxisAttrs>().axis);
  const Rows x(args.in[0], axis);
  const Rows y(args.out[0], axis);
  if (Strip<T>::takes(x, y)) {
    return forward_columns<T, kIsLog>(x, y, begin, end);
  }
  if (Tile<T>::takes(x)) {
    return forward_tiles<T, kIsLog>(x, y, begin, end);
  }
  RowIn<T> in(x);
  RowIn<T> again(y);  // what was written
  RowBlock<T> out(y);
  for (std::int64_t row = begin; row < end; ++row) {
    in.go_to(row);
    const T m = largest_of_row(x.length(), in);
    if constexpr (kIsLog) {
      const T sum = sum_of_row<T>(ExpAbove<T>{m}, x.length(), in);
      map_row(Normalise<T>{m, log_of_one(sum)}, y, out, row, in);
    } else {
      again.go_to(row);
      map_row(ExpAbove<T>{m}, y, out, row, in);
      const T sum = sum_of_row<T>(Itself(), y.length(), again);
      map_row(Times<T>{T(1) / sum}, y, out, row, again);
    }
  }
}

template <class T, class Rule>
void grad_tiles(const Rows& g, const Rows& y, const Rows& dx,
                std::int64_t begin, std::int64_t end) {
  using V = typename Tile<T>::V;
  Tile<T> g_tile(g);
  Tile<T> y_tile(y);
  const auto sum = [](const auto& map, auto&... in)
                       HWY_ATTR { return sum_of_tile(map, in...); };
  for_each_tile<T>(begin, end,
                   [&](std::int64_t first, std::int64_t count) HWY_ATTR {
                     g_tile.load(g, first, count);
                     y_tile.load(y, first, count);
                     const typename Rule::template Derive<V> op{
                         Rule::sum(sum, g_tile, y_tile)};
                     map_tile(op, g_tile, g_tile, y_tile);
                     g_tile.store(dx, first, count);
                   });
}

template <class T, class Rule>
void grad_columns(const Rows& g, const Rows& y, const Rows& dx,
                  std::int64_t begin, std::int64_t end) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  Strip<T> strip;
  strip.length = g.length();
  const auto sum = [&strip](const auto& map, auto&... in) HWY_ATTR {
    const auto same = [&map](std::size_t) { return map; };
    const auto nothing = [](auto...) {};
    sum_columns(strip, same, nothing, in...);
  };
  const auto derive = [&](std::size_t c) HWY_ATTR {
    return typename Rule::template Derive<V>{hn::Load(d, strip.sums + c)};
  };
  const auto strip_of = [&](std::int64_t first, std::int64_t count) HWY_ATTR {
    strip.count = static_cast<std::size_t>(count);
    const Columns<const T> g_in(g, first);
    const Columns<const T> y_in(y, first);
    Rule::sum(sum, g_in, y_in);
    map_columns(strip, derive, Columns<T>(dx, first), g_in, y_in);
  };
  for_each_strip<T>(begin, end, strip_of, g, y, dx);
}

template <class T, class Rule>
void grad_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  const int axis = static_cast<int>(args.attrs_as<AxisAttrs>().axis);
  const Rows g(args.in[0], axis);
  const Rows y(args.in[1], axis);
  const Rows dx(args.out[0], axis);
  if (Strip<T>::takes(g, y, dx)) {
    return grad_columns<T, Rule>(g, y, dx, begin, end);
  }
  if (Tile<T>::takes(g)) {
    return grad_tiles<T, Rule>(g, y, dx, begin, end);
  }
  RowIn<T> g_in(g);
  RowIn<T> y_in(y);
  RowBlock<T> out(dx);
  const auto sum = [&g](const auto& map, auto&... in) HWY_ATTR {
    return sum_of_row<T>(map, g.length(), in...);
  };
  for (std::int64_t row = begin; row < end; ++row) {
    g_in.go_to(row);
    y_in.go_to(row);
    const typename Rule::template Derive<T> op{Rule::sum(sum, g_in, y_in)};
    map_row(op, dx, out, row, g_in, y_in);
  }
}

}  // namespace

RowsFunction softmax_rows(DType dtype) {
  return dtype == f32 ? forward_rows<float, false>
                      : forward_rows<double, false>;
}

RowsFunction log_softmax_rows(DType dtype) {
  return dtype == f32 ? forward_rows<float, true> : forward_rows<double, true>;
}

RowsFunction softmax_grad_rows(DType dtype) {
  return dtype == f32 ? grad_rows<float, SoftmaxGrad>
                      : grad_rows<double, SoftmaxGrad>;
}

RowsFunction log_softmax_grad_rows(DType dtype) {
  return dtype == f32 ? grad_rows<float, LogSoftmaxGrad>
                      : grad_rows<double, LogSoftmaxGrad>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(log_softmax_rows);
HWY_EXPORT(softmax_grad_rows);
HWY_EXPORT(log_softmax_grad_rows);

int axis_of(const Args& args) noexcept {
  return static_cast<int>(args.attrs_as<AxisAttrs>().axis);
}

struct Softmax {
  static constexpr bool kIsLog = false;
  static RowsFunction forward_rows(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(softmax_rows)(dtype);
  }
  static RowsFunction grad_rows(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(softmax_grad_rows)(dtype);
  }
};

struct LogSoftmax {
  static constexpr bool kIsLog = true;
  static RowsFunction forward_rows(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log_softmax_rows)(dtype);
  }
  static RowsFunction grad_rows(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log_softmax_grad_rows)(dtype);
  }
};

// Whether `a` is read along its rows and `b` across them, or the reverse: the
// loops of neither would suit both.
bool lie_across(const Rows& a, const Rows& b) noexcept {
  constexpr std::int64_t kShort = 48;  // tiles take whatever lies anyhow
  if (a.length() <= kShort) {
    return false;
  }
  const auto lies_across = [](const Rows& rows) noexcept {
    return rows.stride() != 1 && rows.adjacent_run() > 1;
  };
  return (a.stride() == 1 && lies_across(b)) ||
         (b.stride() == 1 && lies_across(a));
}

// An operand that lies across the output is brought there first, and the rest
// happens in place: a copy turns blocks that fit the cache.
template <class Op>
void forward(const Args& args) noexcept {
  const int axis = axis_of(args);
  const Rows x(args.in[0], axis);
  Args here = args;
  if (lie_across(x, Rows(args.out[0], axis))) {
    copy_elements(args.in[0], args.out[0], *args.executor);
    here.in = args.out;
  }
  run_rows(here, x, Op::forward_rows(args.in[0].dtype));
}

template <class Op>
void grad(const Args& args) noexcept {
  const int axis = axis_of(args);
  const Rows g(args.in[0], axis);
  const Rows y(args.in[1], axis);
  const Rows dx(args.out[0], axis);
  Args here = args;
  std::array in{args.in[0], args.in[1]};
  const bool is_repeated = g.stride() == 0 && y.stride() != 1;
  if ((lie_across(g, dx) || is_repeated) && !lie_across(y, dx) &&
      args.out[0].data != args.in[1].data) {
    copy_elements(args.in[0], args.out[0], *args.executor);
    in[0] = args.out[0];
    here.in = in;
  }
  run_rows(here, g, Op::grad_rows(args.in[0].dtype));
}

// In double, rounded once.
template <class Op, class T>
void forward_reference(const Args& args) noexcept {
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
      const double above = static_cast<double>(from[i * x.stride()]) - m;
      const double value =
          Op::kIsLog ? above - std::log(sum) : std::exp(above) / sum;
      y.at<T>(row)[i * y.stride()] = static_cast<T>(value);
    }
  }
}

template <class Op, class T>
void grad_reference(const Args& args) noexcept {
  const Rows g(args.in[0], axis_of(args));
  const Rows y(args.in[1], axis_of(args));
  const Rows dx(args.out[0], axis_of(args));
  for (std::int64_t row = 0; row < g.count(); ++row) {
    const auto at = [row](const Rows& rows, std::int64_t i) {
      return static_cast<double>(rows.at<T>(row)[i * rows.stride()]);
    };
    double sum = 0.0;
    for (std::int64_t i = 0; i < g.length(); ++i) {
      sum += Op::kIsLog ? at(g, i) : at(g, i) * at(y, i);
    }
    for (std::int64_t i = 0; i < g.length(); ++i) {
      const double value = Op::kIsLog ? at(g, i) - std::exp(at(y, i)) * sum
                                      : at(y, i) * (at(g, i) - sum);
      dx.at<T>(row)[i * dx.stride()] = static_cast<T>(value);
    }
  }
}

template <Text kName, class Op>
constexpr std::array kForward{
    detail::named<kName, ".f32">(f32, forward<Op>),
    detail::named<kName, ".f64">(f64, forward<Op>),
    detail::named<kName, ".reference.f32">(f32, forward_reference<Op, float>),
    detail::named<kName, ".reference.f64">(f64, forward_reference<Op, double>),
};

template <Text kName, class Op>
constexpr std::array kGrad{
    detail::named<kName, ".f32">(f32, grad<Op>),
    detail::named<kName, ".f64">(f64, grad<Op>),
    detail::named<kName, ".reference.f32">(f32, grad_reference<Op, float>),
    detail::named<kName, ".reference.f64">(f64, grad_reference<Op, double>),
};

}  // namespace

constinit const KernelList softmax_kernels{"softmax",
                                           kForward<"softmax", Softmax>};
constinit const KernelList softmax_grad_kernels{"softmax_grad",
                                                kGrad<"softmax_grad", Softmax>};
constinit const KernelList log_softmax_kernels{
    "log_softmax", kForward<"log_softmax", LogSoftmax>};
constinit const KernelList log_softmax_grad_kernels{
    "log_softmax_grad", kGrad<"log_softmax_grad", LogSoftmax>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
