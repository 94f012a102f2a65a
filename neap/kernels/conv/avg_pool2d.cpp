// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/avg_pool2d.hpp"

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/avg_pool2d.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/conv/pool_spread-inl.hpp"

#ifndef NEAP_KERNELS_AVG_POOL2D_LAYOUT_
#define NEAP_KERNELS_AVG_POOL2D_LAYOUT_
namespace neap::kernels {

// A thread's scratch of the forward: the sums down the columns of a row of
// windows, cut by phases, and what windows divide by along w.
struct AvgPoolLayout {
  AvgPoolLayout(const PoolAttrs& attrs, Bytes element) noexcept {
    const Phases phases(attrs.w);
    BumpAllocator scratch;
    sums = scratch.take((phases.elements() + kPoolSlack) * element);
    places = scratch.take(attrs.w.kernel * 8);
    divisors = scratch.take((attrs.w.out + kPoolSlack) * element);
    total = scratch.total();
  }
  Bytes sums, places, divisors, total;
};

// Scratch of the adjoint: rows of g, divided, in a ring; sums; a row of dx.
struct AvgPoolGradLayout {
  AvgPoolGradLayout(const PoolAttrs& attrs, Bytes element) noexcept {
    const Phases phases(attrs.w);
    before = (attrs.w.kernel - 1) * attrs.w.dilation / phases.count;
    row = before + phases.length + kPoolSlack;
    slots = (attrs.h.span() - 1) / attrs.h.stride + 1;
    BumpAllocator scratch;
    ring = scratch.take(slots * row * element);
    sums = scratch.take(row * element);
    cut = scratch.take(phases.elements() * element);
    divisors = scratch.take((attrs.w.out + kPoolSlack) * element);
    starts = scratch.take((phases.count + 1) * 8);
    reaches = scratch.take(attrs.w.kernel * 16);
    total = scratch.total();
  }
  std::int64_t before, row, slots;
  Bytes ring, sums, cut, divisors, starts, reaches, total;
};

using AvgPoolFunction = void (*)(const Args& args, std::byte* scratch,
                                 std::int64_t begin, std::int64_t end);

}  // namespace neap::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void fill_divisors(const PoolAttrs& attrs, T* divisors) {
  std::fill_n(divisors, attrs.w.out + kPoolSlack, T(1));
  for (std::int64_t o = 0; o < attrs.w.out; ++o) {
    divisors[o] = static_cast<T>(counted(attrs, attrs.w, o));
  }
}

// Divisors of a vector of windows: one fixed number, or rows x columns.
template <class T>
HWY_INLINE auto divisor_at(const PoolAttrs& attrs, const T* divisors, T rows,
                           std::int64_t at) {
  const hn::ScalableTag<T> d;
  return attrs.divisor != 0
             ? hn::Set(d, static_cast<T>(attrs.divisor))
             : hn::Mul(hn::Set(d, rows), hn::LoadU(d, divisors + at));
}

template <class T>
class AvgPool {
 public:
  AvgPool(const Args& args, std::byte* scratch)
      : attrs_(args.attrs_as<PoolAttrs>()),
        phases_(attrs_.w),
        x_(args.in[0]),
        y_(args.out[0].as<T>()) {
    const AvgPoolLayout layout(attrs_, sizeof(T));
    sums_ = reinterpret_cast<T*>(scratch + layout.sums);
    places_ = reinterpret_cast<std::int64_t*>(scratch + layout.places);
    divisors_ = reinterpret_cast<T*>(scratch + layout.divisors);
    for (std::int64_t k = 0; k < attrs_.w.kernel; ++k) {
      places_[k] = phases_.at(k);
    }
    fill_divisors(attrs_, divisors_);
  }

  void plane(std::int64_t index) {
    const T* x = x_.at<const T>(index);
    T* y = y_ + index * attrs_.h.out * attrs_.w.out;
    for (std::int64_t o = 0; o < attrs_.h.out; ++o) {
      const Window window = window_of(attrs_.h, o);
      std::fill_n(sums_, phases_.elements(), T(0));
      for (std::int64_t h = window.begin; h < window.end; ++h) {
        cut_row<true>(phases_, x + h * x_.row(), x_.column(), sums_);
      }
      sum_along(static_cast<T>(counted(attrs_, attrs_.h, o)),
                y + o * attrs_.w.out);
    }
  }

 private:
  void sum_along(T rows, T* y) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t outputs = attrs_.w.out;
    for (std::int64_t at = 0; at < outputs; at += lanes) {
      auto sum = hn::Zero(d);
      for (std::int64_t k = 0; k < attrs_.w.kernel; ++k) {
        sum = hn::Add(sum, hn::LoadU(d, sums_ + places_[k] + at));
      }
      sum = hn::Div(sum, divisor_at(attrs_, divisors_, rows, at));
      if (at + lanes <= outputs) {
        hn::StoreU(sum, d, y + at);
      } else {
        store_some(d, sum, y + at, static_cast<std::size_t>(outputs - at));
      }
    }
  }

  PoolAttrs attrs_;
  Phases phases_;
  T* sums_;
  std::int64_t* places_;
  T* divisors_;
  Planes x_;
  T* y_;
};

template <class T>
class AvgPoolGrad {
 public:
  AvgPoolGrad(const Args& args, std::byte* scratch)
      : attrs_(args.attrs_as<PoolAttrs>()),
        layout_(attrs_, sizeof(T)),
        phases_(attrs_.w),
        ring_(reinterpret_cast<T*>(scratch + layout_.ring)),
        sums_(reinterpret_cast<T*>(scratch + layout_.sums) + layout_.before),
        cut_(reinterpret_cast<T*>(scratch + layout_.cut)),
        divisors_(reinterpret_cast<T*>(scratch + layout_.divisors)),
        starts_(reinterpret_cast<std::int64_t*>(scratch + layout_.starts)),
        reaches_(reinterpret_cast<Reach*>(scratch + layout_.reaches)),
        g_(args.in[0]),
        dx_(args.out[0].as<T>()) {
    std::fill_n(ring_, layout_.slots * layout_.row, T(0));
    std::fill_n(sums_ - layout_.before, layout_.row, T(0));
    list_reaches(phases_, attrs_.w.kernel, starts_, reaches_);
    fill_divisors(attrs_, divisors_);
  }

  void plane(std::int64_t index) {
    const T* g = g_.at<const T>(index);
    T* dx = dx_ + index * attrs_.h.in * attrs_.w.in;
    const std::int64_t width = attrs_.w.in;
    std::int64_t next = 0;  // rows of g before it were read
    Covering before(attrs_.h, 0);
    for (std::int64_t h = 0; h < attrs_.h.in; ++h) {
      const Covering covering(attrs_.h, h);
      if (h > 0 && covering.first == before.first &&
          covering.last == before.last) {
        std::copy_n(dx + (h - 1) * width, width, dx + h * width);
        continue;
      }
      for (; next <= covering.last; ++next) {
        read_row(g, next);
      }
      add_rows(covering);
      spread(dx + h * width);
      before = covering;
    }
  }

 private:
  T* slot(std::int64_t o) const {
    return ring_ + o % layout_.slots * layout_.row + layout_.before;
  }

  void read_row(const T* g, std::int64_t o) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t count = attrs_.w.out;
    T* to = slot(o);
    move_run<sizeof(T)>(reinterpret_cast<const std::byte*>(g + o * g_.row()),
                        g_.column(), reinterpret_cast<std::byte*>(to), 1,
                        count);
    const auto rows = static_cast<T>(counted(attrs_, attrs_.h, o));
    for (std::int64_t i = 0; i < count; i += lanes) {  // behind it 0 / x
      hn::StoreU(
          hn::Div(hn::LoadU(d, to + i), divisor_at(attrs_, divisors_, rows, i)),
          d, to + i);
    }
  }

  void add_rows(const Covering& covering) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < attrs_.w.out; i += lanes) {
      auto sum = hn::Zero(d);
      for (std::int64_t o = covering.first; o <= covering.last; ++o) {
        sum = hn::Add(sum, hn::LoadU(d, slot(o) + i));
      }
      hn::StoreU(sum, d, sums_ + i);
    }
  }

  void spread(T* dx) {
    if (attrs_.w.out == 1) {
      const Window window = window_of(attrs_.w, 0);
      std::fill_n(dx, attrs_.w.in, T(0));
      std::fill(dx + window.begin, dx + window.end, T(0) + sums_[0]);
      return;
    }
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t count = phases_.length - kPoolSlack;
    for (std::int64_t phase = 0; phase < phases_.count; ++phase) {
      T* to = cut_ + phase * phases_.length;
      for (std::int64_t i = 0; i < count; i += lanes) {
        auto sum = hn::Zero(d);
        for (std::int64_t r = starts_[phase]; r < starts_[phase + 1]; ++r) {
          sum = hn::Add(sum, hn::LoadU(d, sums_ + i - reaches_[r].shift));
        }
        hn::StoreU(sum, d, to + i);
      }
    }
    join_row(phases_, cut_, dx);
  }

  PoolAttrs attrs_;
  AvgPoolGradLayout layout_;
  Phases phases_;
  T* ring_;
  T* sums_;
  T* cut_;
  T* divisors_;
  std::int64_t* starts_;
  Reach* reaches_;
  Planes g_;
  T* dx_;
};

template <class Pool>
void on_planes(const Args& args, std::byte* scratch, std::int64_t begin,
               std::int64_t end) {
  Pool pool(args, scratch);
  for (; begin < end; ++begin) {
    pool.plane(begin);
  }
}

}  // namespace

AvgPoolFunction avg_pool_planes(DType dtype) {
  return dtype == f32 ? on_planes<AvgPool<float>> : on_planes<AvgPool<double>>;
}

AvgPoolFunction avg_pool_grad_planes(DType dtype) {
  return dtype == f32 ? on_planes<AvgPoolGrad<float>>
                      : on_planes<AvgPoolGrad<double>>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(avg_pool_planes);
HWY_EXPORT(avg_pool_grad_planes);

void avg_pool(const Args& args) noexcept {
  run_pool<AvgPoolLayout>(
      args, HWY_DYNAMIC_DISPATCH(avg_pool_planes)(args.in[0].dtype));
}

void avg_pool_grad(const Args& args) noexcept {
  run_pool<AvgPoolGradLayout>(
      args, HWY_DYNAMIC_DISPATCH(avg_pool_grad_planes)(args.in[0].dtype));
}

template <class T>
void avg_pool_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PoolAttrs>();
  const Planes x(args.in[0]);
  const std::int64_t outputs = attrs.h.out * attrs.w.out;
  const auto average = [&](const T* plane, std::int64_t oh, std::int64_t ow) {
    const Window rows = window_of(attrs.h, oh);
    const Window columns = window_of(attrs.w, ow);
    T total = 0;
    for (std::int64_t w = columns.begin; w < columns.end; ++w) {
      T column = 0;
      for (std::int64_t h = rows.begin; h < rows.end; ++h) {
        column += plane[h * x.row() + w * x.column()];
      }
      total += column;
    }
    return total / pool_divisor<T>(attrs, counted(attrs, attrs.h, oh),
                                   counted(attrs, attrs.w, ow));
  };
  const auto body = [&](int /*part*/, std::int64_t begin,
                        std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      const T* plane = x.at<const T>(begin);
      for (std::int64_t i = 0; i < outputs; ++i) {
        args.out[0].as<T>()[begin * outputs + i] =
            average(plane, i / attrs.w.out, i % attrs.w.out);
      }
    }
  };
  run_planes(args, pool_plane_elements(args), body);
}

// The outputs whose windows hold `at`: adaptive or not.
struct Holding {
  Holding(const PoolAxis& axis, std::int64_t at) noexcept {
    if (axis.is_adaptive()) {
      first = at * axis.out / axis.in;
      last = base::ceil_div((at + 1) * axis.out, axis.in) - 1;
      return;
    }
    const std::int64_t before = at + axis.padding - axis.span() + 1;
    first = before <= 0 ? 0 : base::ceil_div(before, axis.stride);
    last = std::min((at + axis.padding) / axis.stride, axis.out - 1);
  }
  std::int64_t first = 0;
  std::int64_t last = 0;
};

template <class T>
void avg_pool_grad_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PoolAttrs>();
  const std::int64_t inputs = attrs.h.in * attrs.w.in;
  const Planes g(args.in[0]);
  const auto spread = [&](const T* plane, std::int64_t h, std::int64_t w) {
    const Holding rows(attrs.h, h);
    const Holding columns(attrs.w, w);
    T total = 0;
    for (std::int64_t ow = columns.first; ow <= columns.last; ++ow) {
      T column = 0;
      for (std::int64_t oh = rows.first; oh <= rows.last; ++oh) {
        column += plane[oh * g.row() + ow * g.column()] /
                  pool_divisor<T>(attrs, counted(attrs, attrs.h, oh),
                                  counted(attrs, attrs.w, ow));
      }
      total += column;
    }
    return total;
  };
  const auto body = [&](int /*part*/, std::int64_t begin,
                        std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      const T* plane = g.at<const T>(begin);
      for (std::int64_t i = 0; i < inputs; ++i) {
        args.out[0].as<T>()[begin * inputs + i] =
            spread(plane, i / attrs.w.in, i % attrs.w.in);
      }
    }
  };
  run_planes(args, pool_plane_elements(args), body);
}

constexpr std::array kForward = float_rows<"avg_pool2d">(
    {.run = avg_pool,
     .accepts = is_regular,
     .scratch = pool_scratch<AvgPoolLayout>},
    {avg_pool_reference<float>}, {avg_pool_reference<double>});

constexpr std::array kBackward = float_rows<"avg_pool2d_grad">(
    {.run = avg_pool_grad,
     .accepts = is_regular,
     .scratch = pool_scratch<AvgPoolGradLayout>},
    {avg_pool_grad_reference<float>}, {avg_pool_grad_reference<double>});

}  // namespace

constinit const KernelList avg_pool2d_kernels{"avg_pool2d", kForward};
constinit const KernelList avg_pool2d_grad_kernels{"avg_pool2d_grad",
                                                   kBackward};

}  // namespace neap::kernels
#endif  // HWY_ONCE
