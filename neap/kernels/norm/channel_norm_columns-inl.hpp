// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// batch_norm where s is 1: a vector is a few channels of one sample, and sums
// run down the samples.
#if defined(NEAP_KERNELS_CHANNEL_NORM_COLUMNS_INL_HPP_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CHANNEL_NORM_COLUMNS_INL_HPP_
#undef NEAP_KERNELS_CHANNEL_NORM_COLUMNS_INL_HPP_
#else
#define NEAP_KERNELS_CHANNEL_NORM_COLUMNS_INL_HPP_
#endif

#include "neap/kernels/norm/channel_norm_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// A vector's channels, a number each.
template <class T>
struct ColumnNumbers {
  static constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  alignas(64) T values[kLanes] = {};

  HWY_INLINE auto vector() const {
    return hn::LoadU(hn::ScalableTag<T>(), values);
  }
};

/// Channels [first, first + count) of samples, count at most a vector's.
template <class T>
class Column {
 public:
  Column(const Strided& view, std::int64_t first, std::int64_t count) noexcept
      : view_(view), first_(first), count_(count) {}

  HWY_INLINE auto read(std::int64_t n) const {
    const hn::ScalableTag<T> d;
    const T* row = view_.plane(n, first_);
    if (view_.channel_step() == 1) {
      return load_some(d, row, static_cast<std::size_t>(count_));
    }
    ColumnNumbers<T> some;
    for (std::int64_t i = 0; i < count_; ++i) {
      some.values[i] = row[i * view_.channel_step()];
    }
    return some.vector();
  }

  template <class V>
  HWY_INLINE void write(std::int64_t n, V v) const {
    const hn::ScalableTag<T> d;
    T* row = view_.plane(n, first_);
    if (view_.channel_step() == 1) {
      store_some(d, v, row, static_cast<std::size_t>(count_));
      return;
    }
    ColumnNumbers<T> some;
    hn::StoreU(v, d, some.values);
    for (std::int64_t i = 0; i < count_; ++i) {
      row[i * view_.channel_step()] = some.values[i];
    }
  }

 private:
  ChannelView<T> view_;
  std::int64_t first_;
  std::int64_t count_;
};

/// Two sums a channel.
template <class T>
struct ColumnTotals {
  double first[ColumnNumbers<T>::kLanes] = {};
  double second[ColumnNumbers<T>::kLanes] = {};
};

/// `add(n, first, second)` adds the terms of sample n to two vectors.
template <class T, class Add>
HWY_INLINE ColumnTotals<T> sum_columns(std::int64_t samples, const Add& add) {
  const hn::ScalableTag<T> d;
  ColumnTotals<T> totals;
  for (std::int64_t n = 0; n < samples;) {
    auto first = hn::Zero(d);
    auto second = hn::Zero(d);
    const std::int64_t end = std::min(n + kReduceBlock, samples);
    for (; n < end; ++n) {
      add(n, first, second);
    }
    ColumnNumbers<T> a;
    ColumnNumbers<T> b;
    hn::StoreU(first, d, a.values);
    hn::StoreU(second, d, b.values);
    for (std::size_t i = 0; i < ColumnNumbers<T>::kLanes; ++i) {
      totals.first[i] += static_cast<double>(a.values[i]);
      totals.second[i] += static_cast<double>(b.values[i]);
    }
  }
  return totals;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
