// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/max_pool2d_grad.hpp"

#include <type_traits>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/conv/max_pool2d_grad.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/conv/pool_spread-inl.hpp"

#ifndef NEAP_KERNELS_MAX_POOL2D_GRAD_LAYOUT_
#define NEAP_KERNELS_MAX_POOL2D_GRAD_LAYOUT_
namespace neap::kernels {

// A thread's scratch. Rows of g and of codes (a vector's lane each) have
// room before and behind them, where no code is that of an element.
struct MaxPoolGradLayout {
  MaxPoolGradLayout(const PoolAttrs& attrs, Bytes element) noexcept {
    const Phases phases(attrs.w);
    before = (attrs.w.kernel - 1) * attrs.w.dilation / phases.count;
    row = before + phases.length + kPoolSlack;
    slots = (attrs.h.span() - 1) / attrs.h.stride + 1;
    BumpAllocator scratch;
    g = scratch.take(slots * row * element);
    codes = scratch.take(slots * row * element);
    cut = scratch.take(phases.elements() * element);
    starts = scratch.take((phases.count + 1) * 8);
    reaches = scratch.take(attrs.w.kernel * 16);
    sources = scratch.take(slots * 24);
    bytes = scratch.take(plane_code_bytes(attrs));
    plane = scratch.take(
        code_bits(attrs) <= 8 ? attrs.h.out * attrs.w.out + kPoolSlack : 0);
    total = scratch.total();
  }
  std::int64_t before, row, slots;
  Bytes g, codes, cut, starts, reaches, sources, bytes, plane, total;
};

using MaxPoolGradFunction = void (*)(const Args& args, std::byte* scratch,
                                     std::int64_t begin, std::int64_t end);

}  // namespace neap::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
class MaxPoolGrad {
 public:
  using Lane = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  struct Source {
    const T* g;
    const Lane* codes;
    Lane tap;  // the code of the row's first element
  };

  MaxPoolGrad(const Args& args, std::byte* scratch)
      : attrs_(args.attrs_as<PoolAttrs>()),
        layout_(attrs_, sizeof(T)),
        phases_(attrs_.w),
        bits_(code_bits(attrs_)),
        g_rows_(reinterpret_cast<T*>(scratch + layout_.g)),
        code_rows_(reinterpret_cast<Lane*>(scratch + layout_.codes)),
        cut_(reinterpret_cast<T*>(scratch + layout_.cut)),
        starts_(reinterpret_cast<std::int64_t*>(scratch + layout_.starts)),
        reaches_(reinterpret_cast<Reach*>(scratch + layout_.reaches)),
        sources_(reinterpret_cast<Source*>(scratch + layout_.sources)),
        bytes_(scratch + layout_.bytes),
        plane_(reinterpret_cast<std::uint8_t*>(scratch + layout_.plane)),
        g_(args.in[0]),
        codes_(args.in[1], attrs_, args.in[0].shape[1]),
        dx_(args.out[0].as<T>()) {
    const std::int64_t all = layout_.slots * layout_.row;
    std::fill_n(g_rows_, all, T(0));
    std::fill_n(code_rows_, all, ~Lane(0));
    list_reaches(phases_, attrs_.w.kernel, starts_, reaches_);
    is_by_pairs_ =
        attrs_.h.is_by_pairs() && attrs_.w.is_by_pairs() && g_.column() == 1;
  }

  void plane(std::int64_t index) {
    unpack(index);
    const T* g = g_.at<const T>(index);
    T* dx = dx_ + index * attrs_.h.in * attrs_.w.in;
    if (is_by_pairs_) {
      for (std::int64_t o = 0; o < attrs_.h.out; ++o) {
        spread_pairs(g + o * g_.row(), plane_ + o * attrs_.w.out,
                     dx + 2 * o * attrs_.w.in);
      }
      const std::int64_t done = 2 * attrs_.h.out * attrs_.w.in;
      std::fill(dx + done, dx + attrs_.h.in * attrs_.w.in, T(0));
      return;
    }
    std::int64_t next = 0;  // rows of g before it were read
    std::int64_t slot = 0;  // of the ring, for that row
    for (std::int64_t h = 0; h < attrs_.h.in; ++h) {
      const Covering covering(attrs_.h, h);
      for (; next <= covering.last; ++next) {
        read_row(g, next, slot);
        slot = slot + 1 == layout_.slots ? 0 : slot + 1;
      }
      list_sources(h, covering, slot - (next - covering.first));
      make_row();
      join_row(phases_, cut_, dx + h * attrs_.w.in);
    }
  }

 private:
  // The codes of a plane, dense, and a byte each if they are no more.
  void unpack(std::int64_t index) {
    const std::int64_t count = plane_code_bytes(attrs_);
    const std::byte* from = codes_.at(index);
    if (codes_.step() != 1) {
      move_run<1>(from, codes_.step(), bytes_, 1, count);
      from = bytes_;
    }
    packed_ = from;
    if (bits_ <= 8) {
      unpack_codes(from, attrs_.h.out * attrs_.w.out, bits_, plane_);
    }
  }

  std::int64_t place(std::int64_t slot) const {
    return slot * layout_.row + layout_.before;
  }

  // Row o of g and its codes, to a slot of the ring.
  void read_row(const T* g, std::int64_t o, std::int64_t slot) {
    const std::int64_t count = attrs_.w.out;
    if (g_.column() == 1) {
      put_dense<false>(g + o * g_.row(), count, g_rows_ + place(slot));
    } else {
      move_run<sizeof(T)>(
          reinterpret_cast<const std::byte*>(g + o * g_.row()), g_.column(),
          reinterpret_cast<std::byte*>(g_rows_ + place(slot)), 1, count);
    }
    Lane* to = code_rows_ + place(slot);
    if (bits_ <= 8) {
      const hn::RebindToUnsigned<hn::ScalableTag<T>> du;
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(du));
      for (std::int64_t i = 0; i < count; i += lanes) {
        hn::StoreU(promote(plane_ + o * count + i), du, to + i);
      }
      std::fill_n(to + count, lanes, ~Lane(0));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<Lane>(code_at(packed_, 1, bits_, o * count + i));
    }
  }

  // The rows of g whose windows have an element in row h, in order.
  void list_sources(std::int64_t h, const Covering& covering,
                    std::int64_t slot) {
    source_count_ = 0;
    for (std::int64_t o = covering.first; o <= covering.last; ++o, ++slot) {
      const std::int64_t at = place(slot < 0 ? slot + layout_.slots : slot);
      const std::int64_t from = h + attrs_.h.padding - o * attrs_.h.stride;
      const bool is_dense = attrs_.h.dilation == 1;
      if (is_dense || from % attrs_.h.dilation == 0) {
        const std::int64_t row = is_dense ? from : from / attrs_.h.dilation;
        sources_[source_count_++] = {g_rows_ + at, code_rows_ + at,
                                     static_cast<Lane>(row * attrs_.w.kernel)};
      }
    }
  }

  // Adds kReaches elements of the windows of one row of g to a phase.
  template <int kReaches, bool kIsFirst>
  HWY_INLINE void add_source(const Source& source, const Reach* reaches,
                             std::int64_t count, T* to) {
    const hn::ScalableTag<T> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < count; i += lanes) {
      auto sum = kIsFirst ? hn::Zero(d) : hn::LoadU(d, to + i);
      for (int r = 0; r < kReaches; ++r) {
        const auto [k, shift] = reaches[r];
        const auto is_it =
            hn::Eq(hn::LoadU(du, source.codes + i - shift),
                   hn::Set(du, source.tap + static_cast<Lane>(k)));
        sum = hn::Add(sum,
                      hn::IfThenElseZero(hn::RebindMask(d, is_it),
                                         hn::LoadU(d, source.g + i - shift)));
      }
      hn::StoreU(sum, d, to + i);
    }
  }

  template <bool kIsFirst>
  HWY_INLINE void add_reaches(const Source& source, std::int64_t begin,
                              std::int64_t end, std::int64_t count, T* to) {
    switch (end - begin) {
      case 1:
        return add_source<1, kIsFirst>(source, reaches_ + begin, count, to);
      case 2:
        return add_source<2, kIsFirst>(source, reaches_ + begin, count, to);
      case 3:
        return add_source<3, kIsFirst>(source, reaches_ + begin, count, to);
      default:
        break;
    }
    if (kIsFirst) {
      std::fill_n(to, count, T(0));
    }
    for (; begin < end; ++begin) {
      add_source<1, false>(source, reaches_ + begin, count, to);
    }
  }

  void make_row() {
    for (std::int64_t phase = 0; phase < phases_.count; ++phase) {
      T* to = cut_ + phase * phases_.length;
      const std::int64_t begin = starts_[phase];
      const std::int64_t end = starts_[phase + 1];
      const std::int64_t count = phases_.length - kPoolSlack;
      if (source_count_ == 0) {
        std::fill_n(to, count, T(0));
        continue;
      }
      add_reaches<true>(sources_[0], begin, end, count, to);
      for (std::int64_t s = 1; s < source_count_; ++s) {
        add_reaches<false>(sources_[s], begin, end, count, to);
      }
    }
  }

  // Eight or sixteen codes of a byte, a lane each.
  HWY_INLINE auto promote(const std::uint8_t* codes) const {
    const hn::RebindToUnsigned<hn::ScalableTag<T>> du;
    const hn::Rebind<std::uint32_t, decltype(du)> words;
    const hn::Rebind<std::uint8_t, decltype(du)> bytes;
    const auto wide = hn::PromoteTo(words, hn::LoadU(bytes, codes));
    if constexpr (sizeof(T) == 4) {
      return wide;
    } else {
      return hn::PromoteTo(du, wide);
    }
  }

  // Two rows of dx under windows of 2 x 2 that share nothing.
  void spread_pairs(const T* g_row, const std::uint8_t* codes_row, T* dx) {
    const hn::ScalableTag<T> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t outputs = attrs_.w.out;
    for (std::int64_t i = 0; i < outputs; i += lanes) {
      const auto g =
          i + lanes <= outputs
              ? hn::LoadU(d, g_row + i)
              : load_some(d, g_row + i, static_cast<std::size_t>(outputs - i));
      const auto codes = promote(codes_row + i);
      const auto of = [&](std::int64_t tap) HWY_ATTR {
        const auto is_it = hn::Eq(codes, hn::Set(du, static_cast<Lane>(tap)));
        return hn::Add(hn::Zero(d),  // no -0, as where a sum begins with 0
                       hn::IfThenElseZero(hn::RebindMask(d, is_it), g));
      };
      for (std::int64_t row = 0; row < 2; ++row) {
        store_pairs(d, of(2 * row), of(2 * row + 1),
                    2 * std::min(lanes, outputs - i),
                    dx + row * attrs_.w.in + 2 * i);
      }
    }
    for (std::int64_t i = 2 * outputs; i < attrs_.w.in; ++i) {
      dx[i] = dx[attrs_.w.in + i] = T(0);
    }
  }

  PoolAttrs attrs_;
  MaxPoolGradLayout layout_;
  Phases phases_;
  std::int64_t bits_;
  T* g_rows_;
  Lane* code_rows_;
  T* cut_;
  std::int64_t* starts_;
  Reach* reaches_;
  Source* sources_;
  std::byte* bytes_;
  std::uint8_t* plane_;
  const std::byte* packed_ = nullptr;
  std::int64_t source_count_ = 0;
  bool is_by_pairs_ = false;
  Planes g_;
  CodePlanes codes_;
  T* dx_;
};

template <class T>
void grad_planes(const Args& args, std::byte* scratch, std::int64_t begin,
                 std::int64_t end) {
  MaxPoolGrad<T> grad(args, scratch);
  for (; begin < end; ++begin) {
    grad.plane(begin);
  }
}

}  // namespace

MaxPoolGradFunction max_pool_grad_planes(DType dtype) {
  return dtype == f32 ? grad_planes<float> : grad_planes<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(max_pool_grad_planes);

void max_pool_grad(const Args& args) noexcept {
  run_pool<MaxPoolGradLayout>(
      args, HWY_DYNAMIC_DISPATCH(max_pool_grad_planes)(args.in[0].dtype));
}

template <class T>
void grad_reference(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PoolAttrs>();
  const Planes g(args.in[0]);
  const std::int64_t outputs = attrs.h.out * attrs.w.out;
  const std::int64_t inputs = attrs.h.in * attrs.w.in;
  const std::int64_t bits = code_bits(attrs);
  const std::int64_t width = attrs.w.width();
  const CodePlanes codes(args.in[1], attrs, args.in[0].shape[1]);
  const auto body = [&](int /*part*/, std::int64_t begin,
                        std::int64_t end) noexcept {
    for (; begin < end; ++begin) {
      const T* plane = g.at<const T>(begin);
      T* dx = args.out[0].as<T>() + begin * inputs;
      std::fill_n(dx, inputs, T(0));
      for (std::int64_t i = 0; i < outputs; ++i) {
        const std::int64_t code =
            code_at(codes.at(begin), codes.step(), bits, i);
        const std::int64_t h = place_of(attrs.h, i / attrs.w.out, code / width);
        const std::int64_t w = place_of(attrs.w, i % attrs.w.out, code % width);
        dx[h * attrs.w.in + w] +=
            plane[i / attrs.w.out * g.row() + i % attrs.w.out * g.column()];
      }
    }
  };
  run_planes(args, pool_plane_elements(args), body);
}

constexpr std::array kGrad = float_rows<"max_pool2d_grad">(
    {.run = max_pool_grad,
     .accepts = is_regular,
     .scratch = pool_scratch<MaxPoolGradLayout>},
    {grad_reference<float>}, {grad_reference<double>});

}  // namespace

constinit const KernelList max_pool2d_grad_kernels{"max_pool2d_grad", kGrad};

}  // namespace neap::kernels
#endif  // HWY_ONCE
