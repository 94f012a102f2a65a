// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/interpolate.hpp"

#include <cmath>

#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/interpolate.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/conv/pool_rows-inl.hpp"

#ifndef NEAP_KERNELS_INTERPOLATE_LAYOUT_
#define NEAP_KERNELS_INTERPOLATE_LAYOUT_
namespace neap::kernels {

// A thread's scratch: what each element of a row is made from, a row of x's
// width, and one of y's as it comes or in halves.
struct InterpolateLayout {
  InterpolateLayout(const InterpolateAttrs& attrs, Bytes element) noexcept {
    BumpAllocator scratch;
    columns = scratch.take(attrs.w.out * static_cast<Bytes>(sizeof(Between)));
    row = scratch.take((attrs.w.in + 2 * kPoolSlack) * element);
    even = scratch.take((attrs.w.out / 2 + 1 + kPoolSlack) * element);
    odd = scratch.take((attrs.w.out / 2 + 1 + kPoolSlack) * element);
    total = scratch.total();
  }
  Bytes columns, row, even, odd, total;
};

using InterpolateFunction = void (*)(const Args& args, std::byte* scratch,
                                     std::int64_t begin, std::int64_t end);

}  // namespace neap::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// y = a row, or y += it.
template <bool kAdds, class T, class Make>
HWY_INLINE void make_row(std::int64_t count, T* y, const Make& make) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto some = static_cast<std::size_t>(std::min(lanes, count - i));
    auto v = make(i, some);
    if (kAdds) {
      v = hn::Add(load_some(d, y + i, some), v);
    }
    store_some(d, v, y + i, some);
  }
}

template <class T>
class Resize {
 public:
  Resize(const Args& args, std::byte* scratch)
      : attrs_(args.attrs_as<InterpolateAttrs>()),
        from_(args.in[0]),
        to_(args.out[0].as<T>()) {
    const InterpolateLayout layout(attrs_, sizeof(T));
    columns_ = reinterpret_cast<Between*>(scratch + layout.columns);
    row_ = reinterpret_cast<T*>(scratch + layout.row);
    even_ = reinterpret_cast<T*>(scratch + layout.even);
    odd_ = reinterpret_cast<T*>(scratch + layout.odd);
    for (std::int64_t o = 0; o < attrs_.w.out; ++o) {
      columns_[o] = between(attrs_, attrs_.w, o);
    }
    const ResizeAxis& w = attrs_.w;
    doubles_ = w.in >= 4 && w.out == 2 * w.in && w.scale == 0.5 &&
               !attrs_.align_corners;
  }

  void forward(std::int64_t index) {
    const T* x = from_.at<const T>(index);
    T* y = to_ + index * attrs_.h.out * attrs_.w.out;
    for (std::int64_t o = 0; o < attrs_.h.out; ++o, y += attrs_.w.out) {
      const Between rows = between(attrs_, attrs_.h, o);
      if (attrs_.is_linear) {
        mix_rows(x, rows);
        doubles_ ? double_linear(y) : stretch_linear(y);
        continue;
      }
      if (o > 0 && between(attrs_, attrs_.h, o - 1).low == rows.low) {
        std::copy_n(y - attrs_.w.out, attrs_.w.out, y);
        continue;
      }
      read(x + rows.low * from_.row(), attrs_.w.in, row_);
      doubles_ ? double_nearest(y) : stretch_nearest(y);
    }
  }

  void backward(std::int64_t index) {
    const T* g = from_.at<const T>(index);
    T* dx = to_ + index * attrs_.h.in * attrs_.w.in;
    std::fill_n(dx, attrs_.h.in * attrs_.w.in, T(0));
    for (std::int64_t o = 0; o < attrs_.h.out; ++o) {
      const Between rows = between(attrs_, attrs_.h, o);
      const T* from = g + o * from_.row();
      doubles_&& from_.column() == 1 ? halve(from) : shrink(from);
      if (!attrs_.is_linear) {
        add_row(T(1), dx + rows.low * attrs_.w.in);
        continue;
      }
      add_row(static_cast<T>(rows.weight_low), dx + rows.low * attrs_.w.in);
      add_row(static_cast<T>(rows.weight_high), dx + rows.high * attrs_.w.in);
    }
  }

 private:
  void read(const T* from, std::int64_t count, T* to) const {
    move_run<sizeof(T)>(reinterpret_cast<const std::byte*>(from),
                        from_.column(), reinterpret_cast<std::byte*>(to), 1,
                        count);
  }

  // The row between two of x, weighted.
  void mix_rows(const T* x, const Between& rows) {
    const hn::ScalableTag<T> d;
    const auto low = hn::Set(d, static_cast<T>(rows.weight_low));
    const auto high = hn::Set(d, static_cast<T>(rows.weight_high));
    const T* a = x + rows.low * from_.row();
    const T* b = x + rows.high * from_.row();
    if (from_.column() == 1) {
      make_row<false>(
          attrs_.w.in, row_, [&](std::int64_t i, std::size_t some) HWY_ATTR {
            return hn::Add(hn::Mul(load_some(d, a + i, some), low),
                           hn::Mul(load_some(d, b + i, some), high));
          });
      return;
    }
    for (std::int64_t i = 0; i < attrs_.w.in; ++i) {
      row_[i] = a[i * from_.column()] * static_cast<T>(rows.weight_low) +
                b[i * from_.column()] * static_cast<T>(rows.weight_high);
    }
  }

  T linear_at(std::int64_t o) const {
    const Between& at = columns_[o];
    return row_[at.low] * static_cast<T>(at.weight_low) +
           row_[at.high] * static_cast<T>(at.weight_high);
  }

  void stretch_linear(T* y) const {
    for (std::int64_t o = 0; o < attrs_.w.out; ++o) {
      y[o] = linear_at(o);
    }
  }

  // Twice as many: between two elements lie two new ones.
  void double_linear(T* y) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto near = hn::Set(d, T(0.75));
    const auto far = hn::Set(d, T(0.25));
    const std::int64_t pairs = attrs_.w.in - 1;
    y[0] = linear_at(0);
    for (std::int64_t i = 0; i < pairs; i += lanes) {
      const auto a = hn::LoadU(d, row_ + i);
      const auto b = hn::LoadU(d, row_ + i + 1);
      store_pairs(d, hn::Add(hn::Mul(a, near), hn::Mul(b, far)),
                  hn::Add(hn::Mul(a, far), hn::Mul(b, near)),
                  2 * std::min(lanes, pairs - i), y + 1 + 2 * i);
    }
    y[attrs_.w.out - 1] = linear_at(attrs_.w.out - 1);
  }

  void stretch_nearest(T* y) const {
    for (std::int64_t o = 0; o < attrs_.w.out; ++o) {
      y[o] = row_[columns_[o].low];
    }
  }

  void double_nearest(T* y) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < attrs_.w.in; i += lanes) {
      const auto v = hn::LoadU(d, row_ + i);
      store_pairs(d, v, v, 2 * std::min(lanes, attrs_.w.in - i), y + 2 * i);
    }
  }

  // The adjoint along a row of g, to row_.
  void shrink(const T* g) {
    std::fill_n(row_, attrs_.w.in, T(0));
    for (std::int64_t o = 0; o < attrs_.w.out; ++o) {
      scatter(g, o);
    }
  }

  void scatter(const T* g, std::int64_t o) {
    const Between& at = columns_[o];
    const T value = g[o * from_.column()];
    if (!attrs_.is_linear) {
      row_[at.low] += value;
      return;
    }
    row_[at.low] += value * static_cast<T>(at.weight_low);
    row_[at.high] += value * static_cast<T>(at.weight_high);
  }

  // The same where there are twice as many: all but the ends by vectors.
  void halve(const T* g) {
    const hn::ScalableTag<T> d;
    const std::int64_t count = attrs_.w.in;
    put_pairs<false>(g, 2 * count, even_, odd_);
    const auto zero = hn::Zero(d);
    if (!attrs_.is_linear) {
      make_row<false>(count, row_, [&](std::int64_t i, std::size_t) HWY_ATTR {
        return hn::Add(hn::Add(zero, hn::LoadU(d, even_ + i)),
                       hn::LoadU(d, odd_ + i));
      });
      return;
    }
    // Elements 0, 1 and the last get what the ends of y are made from.
    std::fill_n(row_, 3, T(0));
    for (std::int64_t o = 0; o < 5; ++o) {
      scatter(g, o);
    }
    const auto near = hn::Set(d, T(0.75));
    const auto far = hn::Set(d, T(0.25));
    make_row<false>(
        count - 3, row_ + 2, [&](std::int64_t i, std::size_t) HWY_ATTR {
          const auto at = [&](const T* half, std::int64_t place)
                              HWY_ATTR { return hn::LoadU(d, half + place); };
          auto sum = hn::Add(zero, hn::Mul(at(odd_, i + 1), far));
          sum = hn::Add(sum, hn::Mul(at(even_, i + 2), near));
          sum = hn::Add(sum, hn::Mul(at(odd_, i + 2), near));
          return hn::Add(sum, hn::Mul(at(even_, i + 3), far));
        });
    row_[count - 1] = T(0);
    for (std::int64_t o = 2 * count - 3; o < 2 * count; ++o) {
      const Between& at = columns_[o];
      if (at.low == count - 1) {
        row_[count - 1] += g[o] * static_cast<T>(at.weight_low);
      }
      if (at.high == count - 1) {
        row_[count - 1] += g[o] * static_cast<T>(at.weight_high);
      }
    }
  }

  // row_, weighted, to a row of dx.
  void add_row(T weight, T* dx) const {
    const hn::ScalableTag<T> d;
    make_row<true>(attrs_.w.in, dx, [&](std::int64_t i, std::size_t) HWY_ATTR {
      return hn::Mul(hn::LoadU(d, row_ + i), hn::Set(d, weight));
    });
  }

  InterpolateAttrs attrs_;
  Planes from_;
  T* to_;
  Between* columns_;
  T* row_;
  T* even_;
  T* odd_;
  bool doubles_ = false;
};

template <class T>
void forward_planes(const Args& args, std::byte* scratch, std::int64_t begin,
                    std::int64_t end) {
  Resize<T> resize(args, scratch);
  for (; begin < end; ++begin) {
    resize.forward(begin);
  }
}

template <class T>
void backward_planes(const Args& args, std::byte* scratch, std::int64_t begin,
                     std::int64_t end) {
  Resize<T> resize(args, scratch);
  for (; begin < end; ++begin) {
    resize.backward(begin);
  }
}

}  // namespace

InterpolateFunction interpolate_planes(DType dtype) {
  return dtype == f32 ? forward_planes<float> : forward_planes<double>;
}

InterpolateFunction interpolate_grad_planes(DType dtype) {
  return dtype == f32 ? backward_planes<float> : backward_planes<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {

Between between(const InterpolateAttrs& attrs, const ResizeAxis& axis,
                std::int64_t o) noexcept {
  const auto place = static_cast<double>(o);
  const auto at = [&](double s) {
    return std::min(static_cast<std::int64_t>(s), axis.in - 1);
  };
  if (!attrs.is_linear) {
    const std::int64_t low = at(place * axis.scale);
    return {low, low, 1.0, 0.0};
  }
  double s = attrs.align_corners ? place * axis.scale
                                 : (place + 0.5) * axis.scale - 0.5;
  s = std::max(s, 0.0);
  const std::int64_t low = at(s);
  const double rest = std::min(s - static_cast<double>(low), 1.0);
  return {low, std::min(low + 1, axis.in - 1), 1.0 - rest, rest};
}

namespace {

HWY_EXPORT(interpolate_planes);
HWY_EXPORT(interpolate_grad_planes);

std::int64_t plane_elements(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<InterpolateAttrs>();
  return std::max(attrs.h.in * attrs.w.in, attrs.h.out * attrs.w.out);
}

Bytes part_bytes(const Args& args) noexcept {
  return InterpolateLayout(args.attrs_as<InterpolateAttrs>(),
                           size_of(args.in[0].dtype))
      .total;
}

Bytes scratch_of(const Args& args) noexcept {
  return plane_parts(args, plane_elements(args)) * part_bytes(args);
}

void run_with(const Args& args, InterpolateFunction function) noexcept {
  run_planes_with_scratch(args, plane_elements(args), part_bytes(args),
                          function);
}

void interpolate(const Args& args) noexcept {
  run_with(args, HWY_DYNAMIC_DISPATCH(interpolate_planes)(args.in[0].dtype));
}

void interpolate_grad(const Args& args) noexcept {
  run_with(args,
           HWY_DYNAMIC_DISPATCH(interpolate_grad_planes)(args.in[0].dtype));
}

template <class T>
void interpolate_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<InterpolateAttrs>();
  const Planes x(args.in[0]);
  const std::int64_t planes = args.in[0].shape[0] * args.in[0].shape[1];
  T* y = args.out[0].as<T>();
  for (std::int64_t p = 0; p < planes; ++p) {
    const T* plane = x.at<const T>(p);
    for (std::int64_t i = 0; i < attrs.h.out * attrs.w.out; ++i) {
      const Between h = between(attrs, attrs.h, i / attrs.w.out);
      const Between w = between(attrs, attrs.w, i % attrs.w.out);
      const auto column = [&](std::int64_t at) {
        const T* from = plane + at * x.column();
        const T low = from[h.low * x.row()];
        return attrs.is_linear
                   ? low * static_cast<T>(h.weight_low) +
                         from[h.high * x.row()] * static_cast<T>(h.weight_high)
                   : low;
      };
      *y++ = attrs.is_linear
                 ? column(w.low) * static_cast<T>(w.weight_low) +
                       column(w.high) * static_cast<T>(w.weight_high)
                 : column(w.low);
    }
  }
}

// The share of row `oh` of g in element `w` of a row of dx.
template <class T>
T share_of(const InterpolateAttrs& attrs, const Planes& g, const T* row,
           std::int64_t w) noexcept {
  T sum = 0;
  for (std::int64_t o = 0; o < attrs.w.out; ++o) {
    const Between at = between(attrs, attrs.w, o);
    const T value = row[o * g.column()];
    if (at.low == w) {
      sum += attrs.is_linear ? value * static_cast<T>(at.weight_low) : value;
    }
    if (attrs.is_linear && at.high == w) {
      sum += value * static_cast<T>(at.weight_high);
    }
  }
  return sum;
}

template <class T>
void interpolate_grad_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<InterpolateAttrs>();
  const Planes g(args.in[0]);
  const std::int64_t planes = args.in[0].shape[0] * args.in[0].shape[1];
  T* dx = args.out[0].as<T>();
  std::fill_n(dx, args.out[0].shape.element_count(), T(0));
  for (std::int64_t p = 0; p < planes; ++p) {
    for (std::int64_t o = 0; o < attrs.h.out; ++o) {
      const Between h = between(attrs, attrs.h, o);
      const T* row = g.at<const T>(p) + o * g.row();
      for (std::int64_t w = 0; w < attrs.w.in; ++w) {
        const T share = share_of(attrs, g, row, w);
        dx[h.low * attrs.w.in + w] +=
            share * (attrs.is_linear ? static_cast<T>(h.weight_low) : T(1));
      }
      for (std::int64_t w = 0; attrs.is_linear && w < attrs.w.in; ++w) {
        dx[h.high * attrs.w.in + w] +=
            share_of(attrs, g, row, w) * static_cast<T>(h.weight_high);
      }
    }
    dx += attrs.h.in * attrs.w.in;
  }
}

template <void (*kRun)(const Args&) noexcept>
constexpr Kernel by_vectors(const char* name, DType dtype) {
  return {.name = name, .dtype = dtype, .run = kRun, .scratch = scratch_of};
}

constexpr std::array kForward{
    by_vectors<interpolate>("interpolate.f32", f32),
    by_vectors<interpolate>("interpolate.f64", f64),
    Kernel{.name = "interpolate.reference.f32",
           .dtype = f32,
           .run = interpolate_reference<float>},
    Kernel{.name = "interpolate.reference.f64",
           .dtype = f64,
           .run = interpolate_reference<double>},
};

constexpr std::array kBackward{
    by_vectors<interpolate_grad>("interpolate_grad.f32", f32),
    by_vectors<interpolate_grad>("interpolate_grad.f64", f64),
    Kernel{.name = "interpolate_grad.reference.f32",
           .dtype = f32,
           .run = interpolate_grad_reference<float>},
    Kernel{.name = "interpolate_grad.reference.f64",
           .dtype = f64,
           .run = interpolate_grad_reference<double>},
};

}  // namespace

constinit const KernelList interpolate_kernels{"interpolate", kForward};
constinit const KernelList interpolate_grad_kernels{"interpolate_grad",
                                                    kBackward};

}  // namespace neap::kernels
#endif  // HWY_ONCE
