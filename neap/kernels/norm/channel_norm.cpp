// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/norm/channel_norm.hpp"

#include <cmath>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/norm/channel_norm_split.hpp"
#include "neap/kernels/reduction/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/norm/channel_norm.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/norm/channel_norm_columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// x - m and its square
template <class T>
struct AddFrom {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& first, V& second, V x) const {
    const V from = hn::Sub(x, hn::Set(d, m));
    first = hn::Add(first, from);
    second = hn::MulAdd(from, from, second);
  }
  T m;
};

struct Moments {
  double mean = 0.0;
  double var = 0.0;
};

// Mean and variance, computed from the sums of x - m and of its square.
template <class T>
Moments moments_from(T m, const double* sums, double count) {
  const double rest = sums[0] / count;
  return {static_cast<double>(m) + rest, sums[1] / count - rest * rest};
}

template <class T>
bool is_far(T m, const Moments& moments) {
  const double off = moments.mean - static_cast<double>(m);
  return off * off > 16.0 * moments.var;
}

// y = (x - near) factor + shift, for one plane.
template <class T>
struct Scale {
  Scale() = default;
  Scale(const Moments& moments, double eps, double w, double b)
      : near(static_cast<T>(moments.mean)) {
    const double scale = scale_of(moments.var, eps);
    const double rest = (static_cast<double>(near) - moments.mean) * scale;
    factor = static_cast<T>(scale * w);
    shift = static_cast<T>(rest * w + b);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::MulAdd(hn::Sub(x, hn::Set(d, near)), hn::Set(d, factor),
                      hn::Set(d, shift));
  }
  T near{};
  T factor{};
  T shift{};
};

template <class T>
class ChannelNorm {
 public:
  explicit ChannelNorm(const Args& args)
      : args_(args),
        eps_(args.attrs_as<ChannelNormAttrs>().eps),
        samples_(args.in[0].shape[0]),
        length_(args.in[0].shape[2]),
        x_(args.in[0]),
        y_(args.out[0]),
        stats_(args.out[1].as<double>()),
        in_(x_.step()),
        out_(y_.step()) {}

  // Channels [begin, end), over all samples.
  void channels(std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      sums_[c - begin].begin();
    }
    for (std::int64_t n = 0; n < samples_; ++n) {
      for (std::int64_t c = begin; c < end; ++c) {
        add_plane(n, c, *x_.plane(0, c), after(n, c, begin, end),
                  sums_[c - begin]);
      }
    }
    const auto count = static_cast<double>(samples_ * length_);
    for (std::int64_t c = begin; c < end; ++c) {
      const T m = *x_.plane(0, c);
      Moments moments = moments_from(m, sums_[c - begin].totals(), count);
      if (is_far(m, moments)) {
        moments = again(static_cast<T>(moments.mean), 0, samples_, c, c + 1);
      }
      keep(c, moments);
      scales_[c - begin] = scale(c, c);
    }
    for (std::int64_t n = 0; n < samples_; ++n) {
      for (std::int64_t c = begin; c < end; ++c) {
        scale_plane(n, c, scales_[c - begin]);
      }
    }
  }

  // The cell of one sample and one group.
  void group(std::int64_t cell, std::int64_t groups, std::int64_t channels) {
    const std::int64_t n = cell / groups;
    const std::int64_t first = cell % groups * channels;
    const std::int64_t last = first + channels;
    const T m = *x_.plane(n, first);
    Moments moments = again(m, n, n + 1, first, last);
    if (is_far(m, moments)) {
      moments = again(static_cast<T>(moments.mean), n, n + 1, first, last);
    }
    keep(cell, moments);
    for (std::int64_t c = first; c < last; ++c) {
      scale_plane(n, c, scale(c, cell));
    }
  }

 private:
  // The plane that is read after (n, c), of channels [begin, end).
  const T* after(std::int64_t n, std::int64_t c, std::int64_t begin,
                 std::int64_t end) const {
    return c + 1 < end        ? x_.plane(n, c + 1)
           : n + 1 < samples_ ? x_.plane(n + 1, begin)
                              : x_.plane(n, c);
  }

  void add_plane(std::int64_t n, std::int64_t c, T m, const T* ahead,
                 CellSums<T>& sums) {
    const T* plane = x_.plane(n, c);
    for_blocks(length_, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
      sums.add(AddFrom<T>{m}, count, {ahead + first},
               in_.read(plane, first, count));
    });
  }

  // The moments of one cell, with another m.
  Moments again(T m, std::int64_t n_begin, std::int64_t n_end,
                std::int64_t c_begin, std::int64_t c_end) {
    CellSums<T> sums;
    sums.begin();
    for (std::int64_t n = n_begin; n < n_end; ++n) {
      for (std::int64_t c = c_begin; c < c_end; ++c) {
        add_plane(n, c, m, x_.plane(n, c), sums);
      }
    }
    return moments_from(
        m, sums.totals(),
        static_cast<double>((n_end - n_begin) * (c_end - c_begin) * length_));
  }

  void keep(std::int64_t cell, const Moments& moments) {
    stats_[2 * cell] = moments.mean;
    stats_[2 * cell + 1] = moments.var < 0.0 ? 0.0 : moments.var;
  }

  Scale<T> scale(std::int64_t c, std::int64_t cell) const {
    return {{stats_[2 * cell], stats_[2 * cell + 1]},
            eps_,
            parameter_at<T>(args_, 1, c, 1.0),
            parameter_at<T>(args_, 2, c, 0.0)};
  }

  void scale_plane(std::int64_t n, std::int64_t c, const Scale<T>& op) {
    const T* from = x_.plane(n, c);
    T* to = y_.plane(n, c);
    for_blocks(length_, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
      map_arrays(op, count, out_.place(to, first),
                 in_.read(from, first, count));
      out_.commit(to, first, count);
    });
  }

  const Args& args_;
  double eps_;
  std::int64_t samples_;
  std::int64_t length_;
  ChannelView<T> x_;
  ChannelView<T> y_;
  double* stats_;
  Pieces<T> in_;
  Pieces<T> out_;
  CellSums<T> sums_[kChannelsInHand];
  Scale<T> scales_[kChannelsInHand];
};

// Channels [begin, end) of planes of one element, a vector's at a time.
template <class T>
void norm_columns(const Args& args, std::int64_t begin, std::int64_t end) {
  const hn::ScalableTag<T> d;
  using Numbers = ColumnNumbers<T>;
  const std::int64_t samples = args.in[0].shape[0];
  const double eps = args.attrs_as<ChannelNormAttrs>().eps;
  const std::int64_t count = end - begin;
  const Column<T> x(args.in[0], begin, count);
  const Column<T> y(args.out[0], begin, count);
  double* stats = args.out[1].as<double>() + 2 * begin;
  Numbers m;
  hn::StoreU(x.read(0), d, m.values);
  const auto measure = [&] HWY_ATTR {
    const auto from_m = m.vector();
    return sum_columns<T>(
        samples, [&](std::int64_t n, auto& first, auto& second) HWY_ATTR {
          const auto from = hn::Sub(x.read(n), from_m);
          first = hn::Add(first, from);
          second = hn::MulAdd(from, from, second);
        });
  };
  // A second time for those that are far, where the others come out the same.
  for (int time = 0; time < 2; ++time) {
    const ColumnTotals<T> totals = measure();
    bool is_any_far = false;
    for (std::int64_t i = 0; i < count; ++i) {
      const double sums[] = {totals.first[i], totals.second[i]};
      const Moments moments =
          moments_from(m.values[i], sums, static_cast<double>(samples));
      stats[2 * i] = moments.mean;
      stats[2 * i + 1] = moments.var < 0.0 ? 0.0 : moments.var;
      if (time == 0 && is_far(m.values[i], moments)) {
        m.values[i] = static_cast<T>(moments.mean);
        is_any_far = true;
      }
    }
    if (!is_any_far) {
      break;
    }
  }
  Numbers near;
  Numbers factor;
  Numbers shift;
  for (std::int64_t i = 0; i < count; ++i) {
    const Scale<T> scale({stats[2 * i], stats[2 * i + 1]}, eps,
                         parameter_at<T>(args, 1, begin + i, 1.0),
                         parameter_at<T>(args, 2, begin + i, 0.0));
    near.values[i] = scale.near;
    factor.values[i] = scale.factor;
    shift.values[i] = scale.shift;
  }
  for (std::int64_t n = 0; n < samples; ++n) {
    y.write(n, hn::MulAdd(hn::Sub(x.read(n), near.vector()), factor.vector(),
                          shift.vector()));
  }
}

template <class T>
void norm_channels(const Args& args, std::int64_t begin, std::int64_t end,
                   std::int64_t at_once) {
  if (args.in[0].shape[2] == 1) {
    const auto lanes =
        static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    for (; begin < end; begin += lanes) {
      norm_columns<T>(args, begin, std::min(begin + lanes, end));
    }
    return;
  }
  ChannelNorm<T> norm(args);
  for (; begin < end; begin += at_once) {
    norm.channels(begin, std::min(begin + at_once, end));
  }
}

template <class T>
void norm_groups(const Args& args, std::int64_t begin, std::int64_t end,
                 std::int64_t /*at_once*/) {
  ChannelNorm<T> norm(args);
  const std::int64_t groups = args.attrs_as<ChannelNormAttrs>().groups;
  for (; begin < end; ++begin) {
    norm.group(begin, groups, args.in[0].shape[1] / groups);
  }
}

}  // namespace

std::int64_t norm_channels_at_once(const Args& args) {
  return channels_in_hand(args, 1);
}

// On channels, or cells of groups, [begin, end).
using ChannelNormFunction = void (*)(const Args& args, std::int64_t begin,
                                     std::int64_t end, std::int64_t at_once);

ChannelNormFunction batch_norm_channels(DType dtype) {
  return dtype == f32 ? norm_channels<float> : norm_channels<double>;
}

ChannelNormFunction group_norm_cells(DType dtype) {
  return dtype == f32 ? norm_groups<float> : norm_groups<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(norm_channels_at_once);
HWY_EXPORT(batch_norm_channels);
HWY_EXPORT(group_norm_cells);

void batch_norm(const Args& args) noexcept {
  const auto function =
      HWY_DYNAMIC_DISPATCH(batch_norm_channels)(args.in[0].dtype);
  const Shape& shape = args.in[0].shape;
  if (shape.element_count() == 0) {
    std::fill_n(args.out[1].as<double>(), args.out[1].shape.element_count(),
                0.0);
    return;
  }
  run_norm_channels(
      args, shape, HWY_DYNAMIC_DISPATCH(norm_channels_at_once)(args), function);
}

void group_norm(const Args& args) noexcept {
  const auto function =
      HWY_DYNAMIC_DISPATCH(group_norm_cells)(args.in[0].dtype);
  const Shape& shape = args.in[0].shape;
  if (shape.element_count() == 0) {
    std::fill_n(args.out[1].as<double>(), args.out[1].shape.element_count(),
                0.0);
    return;
  }
  run_norm_cells(args, shape, args.attrs_as<ChannelNormAttrs>().groups,
                 function);
}

// In double, rounded once. `cells` is how many there are; in_cell(n, c) says
// which one a plane belongs to.
template <class T, class CellOf>
void norm_reference(const Args& args, std::int64_t cells,
                    const CellOf& cell_of) noexcept {
  const Strided& x = args.in[0];
  const std::int64_t channels = x.shape[1];
  const std::int64_t length = x.shape[2];
  const double eps = args.attrs_as<ChannelNormAttrs>().eps;
  auto* stats = args.out[1].as<double>();
  std::fill_n(stats, 2 * cells, 0.0);
  const std::int64_t total = x.shape.element_count();
  const auto count = static_cast<double>(total) / static_cast<double>(cells);
  const auto cell = [&](std::int64_t i) {
    return cell_of(i / length / channels, i / length % channels);
  };
  const auto at = [&](std::int64_t i) {
    return static_cast<double>(element<T>(x, i));
  };
  for (std::int64_t i = 0; i < total; ++i) {
    stats[2 * cell(i)] += at(i) / count;
  }
  for (std::int64_t i = 0; i < total; ++i) {
    const double from = at(i) - stats[2 * cell(i)];
    stats[2 * cell(i) + 1] += from * from / count;
  }
  const auto parameter = [&](std::size_t k, std::int64_t c, double otherwise) {
    return args.in.size() > k ? static_cast<double>(element<T>(args.in[k], c))
                              : otherwise;
  };
  for (std::int64_t i = 0; i < total; ++i) {
    const double* of = stats + 2 * cell(i);
    const std::int64_t c = i / length % channels;
    element<T>(args.out[0], i) = static_cast<T>(
        (at(i) - of[0]) / std::sqrt(of[1] + eps) * parameter(1, c, 1.0) +
        parameter(2, c, 0.0));
  }
}

template <class T>
void batch_norm_reference(const Args& args) noexcept {
  norm_reference<T>(args, args.in[0].shape[1],
                    [](std::int64_t, std::int64_t c) { return c; });
}

template <class T>
void group_norm_reference(const Args& args) noexcept {
  const std::int64_t groups = args.attrs_as<ChannelNormAttrs>().groups;
  const std::int64_t channels = args.in[0].shape[1];
  norm_reference<T>(args, args.in[0].shape[0] * groups,
                    [=](std::int64_t n, std::int64_t c) {
                      return n * groups + c * groups / channels;
                    });
}

constexpr std::array kBatch =
    float_rows<"batch_norm">({.run = batch_norm}, {batch_norm_reference<float>},
                             {batch_norm_reference<double>});

constexpr std::array kGroup =
    float_rows<"group_norm">({.run = group_norm}, {group_norm_reference<float>},
                             {group_norm_reference<double>});

}  // namespace

constinit const KernelList batch_norm_kernels{"batch_norm", kBatch};
constinit const KernelList group_norm_kernels{"group_norm", kGroup};

}  // namespace neap::kernels
#endif  // HWY_ONCE
