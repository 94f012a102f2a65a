// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/max_pool2d.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/max_pool2d.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/conv/pool_rows-inl.hpp"

#ifndef NEAP_KERNELS_MAX_POOL2D_LAYOUT_
#define NEAP_KERNELS_MAX_POOL2D_LAYOUT_
namespace neap::kernels {

// A thread's scratch. Codes of a row have a vector's lane each; those of a
// plane have a byte each, where they are packed then.
struct MaxPoolLayout {
  MaxPoolLayout(const PoolAttrs& attrs, Bytes element) noexcept {
    BumpAllocator scratch;
    const Phases phases(attrs.w);
    ring = scratch.take(attrs.h.span() * phases.elements() * element);
    rows = scratch.take(attrs.h.kernel * static_cast<Bytes>(sizeof(void*)));
    places = scratch.take(attrs.w.kernel * 8);
    first = scratch.take((attrs.w.out + kPoolSlack) * element);
    codes = scratch.take((attrs.w.out + kPoolSlack) * element);
    is_packed = code_bits(attrs) <= 8;
    plane = scratch.take(attrs.keeps_codes && is_packed
                             ? attrs.h.out * attrs.w.out + kPoolSlack
                             : 0);
    total = scratch.total();
  }
  Bytes ring, rows, places, first, codes, plane, total;
  bool is_packed;
};

// One plane after the other, by what is compiled for an instruction set.
using MaxPoolFunction = void (*)(const Args& args, std::byte* scratch,
                                 std::int64_t begin, std::int64_t end);

}  // namespace neap::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
using Lane = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
class MaxPool {
 public:
  MaxPool(const Args& args, std::byte* scratch)
      : attrs_(args.attrs_as<PoolAttrs>()),
        layout_(attrs_, sizeof(T)),
        phases_(attrs_.w),
        ring_(reinterpret_cast<T*>(scratch + layout_.ring)),
        rows_(reinterpret_cast<const T**>(scratch + layout_.rows)),
        places_(reinterpret_cast<std::int64_t*>(scratch + layout_.places)),
        first_(reinterpret_cast<Lane<T>*>(scratch + layout_.first)),
        codes_(reinterpret_cast<Lane<T>*>(scratch + layout_.codes)),
        plane_codes_(reinterpret_cast<std::uint8_t*>(scratch + layout_.plane)),
        x_(args.in[0]),
        y_(args.out[0].as<T>()),
        packed_(attrs_.keeps_codes ? args.out[1].data : nullptr) {
    is_by_pairs_ =
        attrs_.h.is_by_pairs() && attrs_.w.is_by_pairs() && x_.column() == 1;
    std::fill_n(ring_, attrs_.h.span() * phases_.elements(),
                -std::numeric_limits<T>::infinity());
    for (std::int64_t k = 0; k < attrs_.w.kernel; ++k) {
      places_[k] = phases_.at(k);
    }
    std::fill_n(first_, attrs_.w.out + kPoolSlack, Lane<T>(0));
    for (std::int64_t o = 0; o < attrs_.w.out; ++o) {
      first_[o] = static_cast<Lane<T>>(window_of(attrs_.w, o).skipped);
    }
  }

  void plane(std::int64_t index) {
    const T* x = x_.at<const T>(index);
    T* y = y_ + index * attrs_.h.out * attrs_.w.out;
    if (is_by_pairs_) {
      for (std::int64_t o = 0; o < attrs_.h.out; ++o) {
        pool_pairs(x + 2 * o * x_.row(), y + o * attrs_.w.out, o);
      }
    } else {
      pool_rows(x, y, index);
    }
    if (packed_ != nullptr && layout_.is_packed) {
      pack_codes(plane_codes_, attrs_.h.out * attrs_.w.out, code_bits(attrs_),
                 packed_ + index * plane_code_bytes(attrs_));
    }
  }

 private:
  void pool_rows(const T* x, T* y, std::int64_t index) {
    std::int64_t next = 0;  // rows before it are in the ring, or done with
    std::int64_t slot = 0;  // of the ring, for that row
    has_nan_ = false;
    const std::int64_t slots = attrs_.h.span();
    for (std::int64_t o = 0; o < attrs_.h.out; ++o) {
      const Window window = window_of(attrs_.h, o);
      next = std::max(next, o * attrs_.h.stride - attrs_.h.padding);
      for (; next < window.end; ++next) {
        read_row(x + next * x_.row(), ring_ + slot * phases_.elements());
        slot = slot + 1 == slots ? 0 : slot + 1;
      }
      std::int64_t at = slot - (next - window.begin);
      std::int64_t count = 0;
      for (std::int64_t h = window.begin; h < window.end; h += window.step) {
        rows_[count++] =
            ring_ + (at < 0 ? at + slots : at) * phases_.elements();
        at += window.step;
      }
      pool_row(window.skipped, count, y + o * attrs_.w.out, o);
      if (packed_ != nullptr && !layout_.is_packed) {
        keep_codes(index, o);
      }
    }
  }

  void read_row(const T* from, T* to) {
    cut_row<false>(phases_, from, x_.column(), to);
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    auto is_nan = hn::IsNaN(hn::Zero(d));
    // The slack holds a vector; what is behind the row is not its own.
    const std::int64_t last = phases_.elements() - lanes;
    for (std::int64_t i = 0; i < phases_.elements(); i += lanes) {
      is_nan = hn::Or(is_nan, hn::IsNaN(hn::LoadU(d, to + std::min(i, last))));
    }
    has_nan_ = has_nan_ || !hn::AllFalse(d, is_nan);
  }

  void pool_row(std::int64_t skipped, std::int64_t count, T* y,
                std::int64_t o) {
    if (packed_ == nullptr) {
      run_row<false, true, 0>(skipped, count, y, o);
    } else if (has_nan_) {
      run_row<true, true, 0>(skipped, count, y, o);
    } else if (attrs_.w.kernel == 2) {
      run_row<true, false, 2>(skipped, count, y, o);
    } else if (attrs_.w.kernel == 3) {
      run_row<true, false, 3>(skipped, count, y, o);
    } else {
      run_row<true, false, 0>(skipped, count, y, o);
    }
  }

  // Windows of 2 x 2 that share nothing: from the rows as they are.
  void pool_pairs(const T* x, T* y, std::int64_t o) {
    const hn::ScalableTag<T> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t outputs = attrs_.w.out;
    for (std::int64_t at = 0; at < outputs; at += lanes) {
      const std::int64_t count = std::min(lanes, outputs - at);
      auto first = hn::Zero(d);
      auto second = first;
      read_pairs(x + 2 * at, count, first, second);
      auto best = first;
      auto code = hn::Zero(du);
      const auto take = [&](auto v, Lane<T> tap) HWY_ATTR {
        const auto is_more = hn::Or(hn::Gt(v, best), hn::IsNaN(v));
        best = hn::IfThenElse(is_more, v, best);
        code =
            hn::IfThenElse(hn::RebindMask(du, is_more), hn::Set(du, tap), code);
      };
      take(second, 1);
      read_pairs(x + x_.row() + 2 * at, count, first, second);
      take(first, 2);
      take(second, 3);
      store_row(best, code, y, o, at);
    }
  }

  template <class V>
  HWY_INLINE void read_pairs(const T* x, std::int64_t count, V& first,
                             V& second) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    if (count == lanes) {
      hn::LoadInterleaved2(d, x, first, second);
      return;
    }
#if HWY_TARGET != HWY_SCALAR
    const std::int64_t low = std::min(2 * count, lanes);
    const auto a = load_some(d, x, static_cast<std::size_t>(low));
    const auto b =
        load_some(d, x + low, static_cast<std::size_t>(2 * count - low));
    first = hn::ConcatEven(d, b, a);
    second = hn::ConcatOdd(d, b, a);
#endif
  }

  template <class V, class U>
  HWY_INLINE void store_row(V best, U code, T* y, std::int64_t o,
                            std::int64_t at) {
    const hn::ScalableTag<T> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const std::int64_t rest = attrs_.w.out - at;
    if (rest >= static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::StoreU(best, d, y + at);
    } else {
      store_some(d, best, y + at, static_cast<std::size_t>(rest));
    }
    if (packed_ != nullptr && layout_.is_packed) {
      const hn::Rebind<std::uint8_t, decltype(d)> bytes;
      hn::StoreU(hn::TruncateTo(bytes, code), bytes,
                 plane_codes_ + o * attrs_.w.out + at);
    } else {
      hn::StoreU(code, du, codes_ + at);
    }
  }

  // kWidth: the windows' extent, or 0.
  template <bool kCodes, bool kNan, std::int64_t kWidth>
  HWY_INLINE void run_row(std::int64_t skipped, std::int64_t count, T* y,
                          std::int64_t o) {
    const hn::ScalableTag<T> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t width = kWidth != 0 ? kWidth : attrs_.w.kernel;
    for (std::int64_t at = 0; at < attrs_.w.out; at += lanes) {
      auto best = hn::Set(d, -std::numeric_limits<T>::infinity());
      auto tap = static_cast<Lane<T>>(skipped * width);
      auto code = hn::Add(hn::LoadU(du, first_ + at), hn::Set(du, tap));
      for (std::int64_t r = 0; r < count; ++r) {
        const T* from = rows_[r] + at;
        for (std::int64_t k = 0; k < width; ++k, ++tap) {
          const auto x = hn::LoadU(d, from + places_[k]);
          auto is_more = hn::Gt(x, best);
          if constexpr (kNan) {
            is_more = hn::Or(is_more, hn::IsNaN(x));
          }
          best = hn::IfThenElse(is_more, x, best);
          if constexpr (kCodes) {
            code = hn::IfThenElse(hn::RebindMask(du, is_more), hn::Set(du, tap),
                                  code);
          }
        }
      }
      store_row(best, code, y, o, at);
    }
  }

  // Codes of more than a byte, of row o.
  void keep_codes(std::int64_t index, std::int64_t o) {
    const std::int64_t outputs = attrs_.w.out;
    const std::int64_t bits = code_bits(attrs_);
    std::byte* plane = packed_ + index * plane_code_bytes(attrs_);
    for (std::int64_t i = 0; i < outputs; ++i) {
      set_code(plane, bits, o * outputs + i,
               static_cast<std::int64_t>(codes_[i]));
    }
  }

  PoolAttrs attrs_;
  MaxPoolLayout layout_;
  Phases phases_;
  T* ring_;
  const T** rows_;
  std::int64_t* places_;
  Lane<T>* first_;  // the code of a window's first element, its row apart
  Lane<T>* codes_;
  std::uint8_t* plane_codes_;
  Planes x_;
  T* y_;
  std::byte* packed_;
  bool is_by_pairs_ = false;
  bool has_nan_ = false;  // in the rows of the plane so far
};

template <class T>
void pool_planes(const Args& args, std::byte* scratch, std::int64_t begin,
                 std::int64_t end) {
  MaxPool<T> pool(args, scratch);
  for (; begin < end; ++begin) {
    pool.plane(begin);
  }
}

}  // namespace

MaxPoolFunction max_pool_planes(DType dtype) {
  return dtype == f32 ? pool_planes<float> : pool_planes<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(max_pool_planes);

void max_pool(const Args& args) noexcept {
  run_pool<MaxPoolLayout>(
      args, HWY_DYNAMIC_DISPATCH(max_pool_planes)(args.in[0].dtype));
}

// The largest of one window, and which it is.
template <class T>
std::pair<T, std::int64_t> largest(const Planes& x, const T* plane,
                                   const PoolAttrs& attrs, std::int64_t oh,
                                   std::int64_t ow) noexcept {
  const Window rows = window_of(attrs.h, oh);
  const Window columns = window_of(attrs.w, ow);
  const std::int64_t width = attrs.w.width();
  T best = -std::numeric_limits<T>::infinity();
  std::int64_t code = rows.skipped * width + columns.skipped;
  for (std::int64_t h = rows.begin; h < rows.end; h += rows.step) {
    for (std::int64_t w = columns.begin; w < columns.end; w += columns.step) {
      const T value = plane[h * x.row() + w * x.column()];
      if (value > best || std::isnan(value)) {
        best = value;
        code = ((h - rows.begin) / rows.step + rows.skipped) * width +
               (w - columns.begin) / columns.step + columns.skipped;
      }
    }
  }
  return {best, code};
}

template <class T>
void max_pool_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PoolAttrs>();
  const Planes x(args.in[0]);
  const std::int64_t outputs = attrs.h.out * attrs.w.out;
  const auto body = [&](int /*part*/, std::int64_t begin,
                        std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      std::byte* codes =
          attrs.keeps_codes ? args.out[1].data + begin * plane_code_bytes(attrs)
                            : nullptr;
      if (codes != nullptr) {
        std::fill_n(codes, plane_code_bytes(attrs), std::byte{0});
      }
      for (std::int64_t i = 0; i < outputs; ++i) {
        const auto [value, code] = largest(x, x.at<const T>(begin), attrs,
                                           i / attrs.w.out, i % attrs.w.out);
        args.out[0].as<T>()[begin * outputs + i] = value;
        if (codes != nullptr) {
          set_code(codes, code_bits(attrs), i, code);
        }
      }
    }
  };
  run_planes(args, pool_plane_elements(args), body);
}

template <class T>
void take_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PoolAttrs>();
  const Planes u(args.in[0]);
  const std::int64_t outputs = attrs.h.out * attrs.w.out;
  const std::int64_t bits = code_bits(attrs);
  const std::int64_t width = attrs.w.width();
  const CodePlanes codes(args.in[1], attrs, args.in[0].shape[1]);
  const auto body = [&](int /*part*/, std::int64_t begin,
                        std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      const T* plane = u.at<const T>(begin);
      for (std::int64_t i = 0; i < outputs; ++i) {
        const std::int64_t code =
            code_at(codes.at(begin), codes.step(), bits, i);
        const std::int64_t h = place_of(attrs.h, i / attrs.w.out, code / width);
        const std::int64_t w = place_of(attrs.w, i % attrs.w.out, code % width);
        args.out[0].as<T>()[begin * outputs + i] =
            plane[h * u.row() + w * u.column()];
      }
    }
  };
  run_planes(args, pool_plane_elements(args), body);
}

constexpr std::array kMax = float_rows<"max_pool2d">(
    {.run = max_pool,
     .accepts = is_regular,
     .scratch = pool_scratch<MaxPoolLayout>},
    {max_pool_reference<float>}, {max_pool_reference<double>});

constexpr std::array kTake{
    Kernel{.name = "max_pool2d_take.reference.f32",
           .dtype = f32,
           .run = take_reference<float>},
    Kernel{.name = "max_pool2d_take.reference.f64",
           .dtype = f64,
           .run = take_reference<double>},
};

}  // namespace

constinit const KernelList max_pool2d_kernels{"max_pool2d", kMax};
constinit const KernelList max_pool2d_take_kernels{"max_pool2d_take", kTake};

}  // namespace neap::kernels
#endif  // HWY_ONCE
