// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by channel_norm and its derivative: planes of (n, c, s), sums over the
// planes of a cell in the order that channel_norm.hpp defines, and the numbers
// that a cell was normalised with.
#if defined(NEAP_KERNELS_CHANNEL_NORM_SUMS_INL_HPP_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CHANNEL_NORM_SUMS_INL_HPP_
#undef NEAP_KERNELS_CHANNEL_NORM_SUMS_INL_HPP_
#else
#define NEAP_KERNELS_CHANNEL_NORM_SUMS_INL_HPP_
#endif

#include <array>
#include <cmath>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "neap/base/ceil_div.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/norm/channel_norm.hpp"
#include "neap/kernels/norm/norm-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// (n, c, s) as planes, read and written in dense pieces.
template <class T>
class ChannelView {
 public:
  explicit ChannelView(const Strided& view) noexcept
      : data_(view.as<T>()),
        sample_(view.strides[0]),
        channel_(view.strides[1]),
        step_(view.shape[2] == 1 ? 1 : view.strides[2]) {}

  T* plane(std::int64_t n, std::int64_t c) const noexcept {
    return data_ + n * sample_ + c * channel_;
  }
  std::int64_t step() const noexcept { return step_; }
  std::int64_t channel_step() const noexcept { return channel_; }

 private:
  T* data_;
  std::int64_t sample_;
  std::int64_t channel_;
  std::int64_t step_;
};

/// Pieces of rows whose elements lie `step` apart, as dense arrays.
template <class T>
class Pieces {
 public:
  explicit Pieces(std::int64_t step) noexcept : step_(step) {}

  HWY_INLINE const T* read(const T* row, std::int64_t first,
                           std::int64_t count) {
    if (step_ == 1) {
      return row + first;
    }
    move_run<sizeof(T)>(reinterpret_cast<const std::byte*>(row + first * step_),
                        step_, reinterpret_cast<std::byte*>(buffer_), 1, count);
    return buffer_;
  }
  HWY_INLINE T* place(T* row, std::int64_t first) {
    return step_ == 1 ? row + first : buffer_;
  }
  HWY_INLINE void commit(T* row, std::int64_t first, std::int64_t count) {
    if (step_ != 1) {
      move_run<sizeof(T)>(reinterpret_cast<const std::byte*>(buffer_), 1,
                          reinterpret_cast<std::byte*>(row + first * step_),
                          step_, count);
    }
  }

 private:
  std::int64_t step_;
  alignas(64) T buffer_[kReduceBlock];
};

/// Two sums that are under way: of a block, and of all blocks before it.
template <class T>
class CellSums {
 public:
  void begin() {
    std::fill_n(partials_, 2 * kChannelPartials, T(0));
    totals_[0] = totals_[1] = 0.0;
    filled_ = 0;
  }

  /// Adds a piece. `map(d, first, second, v...)` adds the two terms of one
  /// vector; those beyond the piece are left out. `ahead` is what will be read
  /// next, for each of the arrays: planes are short, and far from one another.
  template <class Map, class... In>
  HWY_INLINE void add(const Map& map, std::int64_t size,
                      const std::array<const T*, sizeof...(In)>& ahead,
                      const In*... in) {
    const hn::CappedTag<T, kChannelPartials> d;
    using V = hn::Vec<decltype(d)>;
    constexpr std::size_t kLanes = hn::MaxLanes(d);
    constexpr std::size_t kVectors = kChannelPartials / kLanes;
    const auto count = static_cast<std::size_t>(size);
    V sums[2][kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[0][v] = hn::LoadU(d, partials_ + v * kLanes);
      sums[1][v] = hn::LoadU(d, partials_ + kChannelPartials + v * kLanes);
    }
    std::size_t i = 0;
    for (; i + kChannelPartials <= count; i += kChannelPartials) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        map(d, sums[0][v], sums[1][v], hn::LoadU(d, in + i + v * kLanes)...);
        for (const T* next : ahead) {
          hwy::Prefetch(next + i + v * kLanes);
        }
      }
    }
    for (std::size_t v = 0; v < kVectors && i < count; ++v, i += kLanes) {
      const std::size_t rest = HWY_MIN(count - i, kLanes);
      V first = sums[0][v];
      V second = sums[1][v];
      map(d, first, second, load_some(d, in + i, rest)...);
      const auto is_there = hn::FirstN(d, rest);
      sums[0][v] = hn::IfThenElse(is_there, first, sums[0][v]);
      sums[1][v] = hn::IfThenElse(is_there, second, sums[1][v]);
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[0][v], d, partials_ + v * kLanes);
      hn::StoreU(sums[1][v], d, partials_ + kChannelPartials + v * kLanes);
    }
    filled_ += size;
    if (filled_ >= kReduceBlock) {
      flush();
    }
  }

  /// The sums, with the last block.
  const double* totals() {
    if (filled_ != 0) {
      flush();
    }
    return totals_;
  }

 private:
  HWY_INLINE void flush() {
    const hn::CappedTag<T, kChannelPartials> d;
    constexpr std::size_t kLanes = hn::MaxLanes(d);
    for (std::size_t s = 0; s < 2; ++s) {
      T* from = partials_ + s * kChannelPartials;
      auto sum = hn::LoadU(d, from);
      if constexpr (kLanes < kChannelPartials) {
        for (std::size_t half = kChannelPartials / 2; half >= kLanes;
             half /= 2) {
          for (std::size_t i = 0; i < half; i += kLanes) {
            sum =
                hn::Add(hn::LoadU(d, from + i), hn::LoadU(d, from + half + i));
            hn::StoreU(sum, d, from + i);
          }
        }
        sum = hn::LoadU(d, from);
      }
      totals_[s] += static_cast<double>(fold(d, sum));
      std::fill_n(from, kChannelPartials, T(0));
    }
    filled_ = 0;
  }

  alignas(64) T partials_[2 * kChannelPartials];
  double totals_[2];
  std::int64_t filled_;
};

/// Channels that a thread sums and then goes over again together: a long run of
/// each sample, and not more than the farthest cache holds. The nearer ones do
/// not count: planes of a channel lie a power of two apart and share their
/// sets.
inline constexpr std::int64_t kChannelsInHand = 64;

HWY_MAYBE_UNUSED inline std::int64_t channels_in_hand(const Args& args,
                                                      int operands) {
  constexpr std::int64_t kCache = 4 << 20;  // bytes
  const Shape& shape = args.in[0].shape;
  const std::int64_t channel = std::max<std::int64_t>(
      shape[0] * shape[2] * size_of(args.in[0].dtype) * operands, 1);
  const std::int64_t share = base::ceil_div(shape[1], args.executor->threads());
  return std::clamp<std::int64_t>(
      kCache / channel, 1,
      std::min(kChannelsInHand, std::max<std::int64_t>(share, 1)));
}

HWY_MAYBE_UNUSED inline double scale_of(double var, double eps) {
  return 1.0 / std::sqrt((var < 0.0 ? 0.0 : var) + eps);
}

/// The element of a vector of parameters, or what stands for it.
template <class T>
double parameter_at(const Args& args, std::size_t k, std::int64_t c,
                    double otherwise) {
  return args.in.size() > k
             ? static_cast<double>(
                   args.in[k].as<const T>()[c * args.in[k].strides[0]])
             : otherwise;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
