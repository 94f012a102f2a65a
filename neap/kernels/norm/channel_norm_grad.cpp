// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/norm/channel_norm_grad.hpp"

#include <cmath>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/norm/channel_norm_grad_reference.hpp"
#include "neap/kernels/norm/channel_norm_split.hpp"
#include "neap/kernels/reduction/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/norm/channel_norm_grad.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/norm/channel_norm_columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// dy and dy (x - near)
template <class T>
struct AddGradient {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V& first, V& second, V dy, V x) const {
    first = hn::Add(first, dy);
    second = hn::MulAdd(dy, hn::Sub(x, hn::Set(d, near)), second);
  }
  T near;
};

// The normalisation of a cell: xhat = (x - near) scale + rest.
template <class T>
struct CellNormal {
  CellNormal() = default;
  CellNormal(double mean, double var, double eps)
      : near(static_cast<T>(mean)),
        scale(scale_of(var, eps)),
        rest((static_cast<double>(near) - mean) * scale) {}
  /// The sum of dy xhat from those of dy and of dy (x - near).
  double along(const double* sums) const {
    return scale * sums[1] + rest * sums[0];
  }
  T near{};
  double scale = 0.0;
  double rest = 0.0;
};

// dx = scale (w dy - mean_g - xhat along) of one plane, with xhat put in:
// factor dy + slope (x - near) + level.
template <class T>
struct Derive {
  Derive() = default;
  Derive(const CellNormal<T>& normal, double w, double mean_g, double along)
      : near(normal.near),
        factor(static_cast<T>(normal.scale * w)),
        slope(static_cast<T>(-along * normal.scale * normal.scale)),
        level(static_cast<T>(-normal.scale * (mean_g + along * normal.rest))) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V dy, V x) const {
    const V line = hn::MulAdd(hn::Sub(x, hn::Set(d, near)), hn::Set(d, slope),
                              hn::Set(d, level));
    return hn::MulAdd(dy, hn::Set(d, factor), line);
  }
  T near{};
  T factor{};
  T slope{};
  T level{};
};

template <class T>
class ChannelNormGrad {
 public:
  explicit ChannelNormGrad(const Args& args)
      : args_(args),
        wanted_(args.attrs_as<ChannelNormGradAttrs>()),
        samples_(args.in[1].shape[0]),
        length_(args.in[1].shape[2]),
        dy_(args.in[0]),
        x_(args.in[1]),
        dx_(wanted_.dx ? args.out[0] : args.in[1]),
        dy_in_(dy_.step()),
        x_in_(x_.step()),
        out_(dx_.step()) {}

  // Channels [begin, end), over all samples.
  void channels(std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      sums_[c - begin].begin();
      normals_[c - begin] = normal(c);
    }
    for (std::int64_t n = 0; n < samples_; ++n) {
      for (std::int64_t c = begin; c < end; ++c) {
        const bool is_last = c + 1 == end;
        const std::int64_t next_n = std::min(n + is_last, samples_ - 1);
        add_plane(n, c, next_n, is_last ? begin : c + 1,
                  normals_[c - begin].near, sums_[c - begin]);
      }
    }
    for (std::int64_t c = begin; c < end; ++c) {
      finish(c, normals_[c - begin], sums_[c - begin].totals(),
             rules_[c - begin]);
    }
    for (std::int64_t n = 0; wanted_.dx && n < samples_; ++n) {
      for (std::int64_t c = begin; c < end; ++c) {
        derive_plane(n, c, rules_[c - begin]);
      }
    }
  }

  // The cell of one sample and one group. `planes`: (n, c, 2), the sums of dy
  // and of dy xhat of each plane, or nullptr.
  void group(std::int64_t cell, std::int64_t groups, std::int64_t channels,
             double* planes) {
    const std::int64_t n = cell / groups;
    const std::int64_t first = cell % groups * channels;
    const CellNormal<T> of = normal(cell);
    double mean_g = 0.0;
    double along = 0.0;
    for (std::int64_t c = first; c < first + channels; ++c) {
      sums_[0].begin();
      add_plane(n, c, n, c, of.near, sums_[0]);
      const double* sums = sums_[0].totals();
      const double plane_along = of.along(sums);
      const double w = parameter_at<T>(args_, 3, c, 1.0);
      mean_g += w * sums[0];
      along += w * plane_along;
      if (planes != nullptr) {
        double* plane = planes + 2 * (n * groups * channels + c);
        plane[0] = sums[0];
        plane[1] = plane_along;
      }
    }
    if (wanted_.dx) {
      const auto count = static_cast<double>(channels * length_);
      for (std::int64_t c = first; c < first + channels; ++c) {
        derive_plane(n, c,
                     {of, parameter_at<T>(args_, 3, c, 1.0), mean_g / count,
                      along / count});
      }
    }
  }

 private:
  CellNormal<T> normal(std::int64_t cell) const {
    return {element<double>(args_.in[2], 2 * cell),
            element<double>(args_.in[2], 2 * cell + 1), wanted_.eps};
  }

  // dw and db of a channel, and the rule for its dx.
  void finish(std::int64_t c, const CellNormal<T>& of, const double* sums,
              Derive<T>& rule) const {
    const double along = of.along(sums);
    if (wanted_.dw) {
      args_.out[1].as<T>()[c] = static_cast<T>(along);
    }
    if (wanted_.db) {
      args_.out[2].as<T>()[c] = static_cast<T>(sums[0]);
    }
    const auto count = static_cast<double>(samples_ * length_);
    const double w = parameter_at<T>(args_, 3, c, 1.0);
    rule = {of, w, w * sums[0] / count, w * along / count};
  }

  // Plane (n, c), before (next_n, next_c).
  void add_plane(std::int64_t n, std::int64_t c, std::int64_t next_n,
                 std::int64_t next_c, T near, CellSums<T>& sums) {
    const T* next_dy = dy_.plane(next_n, next_c);
    const T* next_x = x_.plane(next_n, next_c);
    const T* dy = dy_.plane(n, c);
    const T* x = x_.plane(n, c);
    for_blocks(length_, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
      sums.add(AddGradient<T>{near}, count, {next_dy + first, next_x + first},
               dy_in_.read(dy, first, count), x_in_.read(x, first, count));
    });
  }

  void derive_plane(std::int64_t n, std::int64_t c, const Derive<T>& op) {
    const T* dy = dy_.plane(n, c);
    const T* x = x_.plane(n, c);
    T* to = dx_.plane(n, c);
    for_blocks(length_, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
      map_arrays(op, count, out_.place(to, first),
                 dy_in_.read(dy, first, count), x_in_.read(x, first, count));
      out_.commit(to, first, count);
    });
  }

  const Args& args_;
  ChannelNormGradAttrs wanted_;
  std::int64_t samples_;
  std::int64_t length_;
  ChannelView<T> dy_;
  ChannelView<T> x_;
  ChannelView<T> dx_;
  Pieces<T> dy_in_;
  Pieces<T> x_in_;
  Pieces<T> out_;
  CellSums<T> sums_[kChannelsInHand];
  CellNormal<T> normals_[kChannelsInHand];
  Derive<T> rules_[kChannelsInHand];
};

// Channels [begin, end) of planes of one element, a vector's at a time.
template <class T>
void grad_columns(const Args& args, std::int64_t begin, std::int64_t end) {
  using Numbers = ColumnNumbers<T>;
  const auto& wanted = args.attrs_as<ChannelNormGradAttrs>();
  const std::int64_t samples = args.in[1].shape[0];
  const std::int64_t count = end - begin;
  const auto normal = [&](std::int64_t i) {
    return CellNormal<T>(element<double>(args.in[2], 2 * (begin + i)),
                         element<double>(args.in[2], 2 * (begin + i) + 1),
                         wanted.eps);
  };
  const Column<T> dy(args.in[0], begin, count);
  const Column<T> x(args.in[1], begin, count);
  Numbers near;
  for (std::int64_t i = 0; i < count; ++i) {
    near.values[i] = normal(i).near;
  }
  const ColumnTotals<T> totals = sum_columns<T>(
      samples, [&](std::int64_t n, auto& first, auto& second) HWY_ATTR {
        const auto g = dy.read(n);
        first = hn::Add(first, g);
        second = hn::MulAdd(g, hn::Sub(x.read(n), near.vector()), second);
      });
  Numbers factor;
  Numbers slope;
  Numbers level;
  const auto size = static_cast<double>(samples);
  for (std::int64_t i = 0; i < count; ++i) {
    const double sums[] = {totals.first[i], totals.second[i]};
    const CellNormal<T> of = normal(i);
    const double along = of.along(sums);
    if (wanted.dw) {
      args.out[1].as<T>()[begin + i] = static_cast<T>(along);
    }
    if (wanted.db) {
      args.out[2].as<T>()[begin + i] = static_cast<T>(sums[0]);
    }
    const double w = parameter_at<T>(args, 3, begin + i, 1.0);
    const Derive<T> op(of, w, w * sums[0] / size, w * along / size);
    factor.values[i] = op.factor;
    slope.values[i] = op.slope;
    level.values[i] = op.level;
  }
  if (!wanted.dx) {
    return;
  }
  const Column<T> dx(args.out[0], begin, count);
  for (std::int64_t n = 0; n < samples; ++n) {
    const auto line = hn::MulAdd(hn::Sub(x.read(n), near.vector()),
                                 slope.vector(), level.vector());
    dx.write(n, hn::MulAdd(dy.read(n), factor.vector(), line));
  }
}

template <class T>
void grad_channels(const Args& args, std::int64_t begin, std::int64_t end,
                   std::int64_t at_once) {
  if (args.in[1].shape[2] == 1) {
    const auto lanes =
        static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    for (; begin < end; begin += lanes) {
      grad_columns<T>(args, begin, std::min(begin + lanes, end));
    }
    return;
  }
  ChannelNormGrad<T> grad(args);
  for (; begin < end; begin += at_once) {
    grad.channels(begin, std::min(begin + at_once, end));
  }
}

template <class T>
void grad_groups(const Args& args, std::int64_t begin, std::int64_t end,
                 std::int64_t /*at_once*/) {
  ChannelNormGrad<T> grad(args);
  const auto& wanted = args.attrs_as<ChannelNormGradAttrs>();
  auto* planes = reinterpret_cast<double*>(args.scratch.data());
  for (; begin < end; ++begin) {
    grad.group(begin, wanted.groups, args.in[1].shape[1] / wanted.groups,
               wanted.dw || wanted.db ? planes : nullptr);
  }
}

}  // namespace

std::int64_t grad_channels_at_once(const Args& args) {
  return channels_in_hand(args, 2);
}

// On channels, or cells of groups, [begin, end).
using ChannelNormGradFunction = void (*)(const Args& args, std::int64_t begin,
                                         std::int64_t end,
                                         std::int64_t at_once);

ChannelNormGradFunction batch_norm_grad_channels(DType dtype) {
  return dtype == f32 ? grad_channels<float> : grad_channels<double>;
}

ChannelNormGradFunction group_norm_grad_cells(DType dtype) {
  return dtype == f32 ? grad_groups<float> : grad_groups<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(grad_channels_at_once);
HWY_EXPORT(batch_norm_grad_channels);
HWY_EXPORT(group_norm_grad_cells);

void batch_norm_grad(const Args& args) noexcept {
  const auto function =
      HWY_DYNAMIC_DISPATCH(batch_norm_grad_channels)(args.in[0].dtype);
  const Shape& shape = args.in[1].shape;
  if (shape.element_count() == 0) {
    clear_sums(args);
    return;
  }
  run_norm_channels(
      args, shape, HWY_DYNAMIC_DISPATCH(grad_channels_at_once)(args), function);
}

bool sums_planes(const Args& args) noexcept {
  const auto& wanted = args.attrs_as<ChannelNormGradAttrs>();
  return wanted.dw || wanted.db;
}

Bytes group_scratch(const Args& args) noexcept {
  return sums_planes(args) ? args.in[1].shape[0] * args.in[1].shape[1] * 16 : 0;
}

// The sums of a channel's planes, onto what came before, samples in order.
struct PlaneTotals {
  double db = 0.0;
  double dw = 0.0;
};

PlaneTotals add_samples(const Args& args, std::int64_t channel,
                        PlaneTotals totals) noexcept {
  const auto* planes = reinterpret_cast<const double*>(args.scratch.data());
  const std::int64_t channels = args.in[1].shape[1];
  for (std::int64_t n = 0; n < args.in[1].shape[0]; ++n) {
    const double* plane = planes + 2 * (n * channels + channel);
    totals.db += plane[0];
    totals.dw += plane[1];
  }
  return totals;
}

template <class T>
void finish_sums(const Args& args) noexcept {
  const auto& wanted = args.attrs_as<ChannelNormGradAttrs>();
  for (std::int64_t c = 0; c < args.in[1].shape[1]; ++c) {
    const PlaneTotals totals = add_samples(args, c, {});
    if (wanted.dw) {
      args.out[1].as<T>()[c] = static_cast<T>(totals.dw);
    }
    if (wanted.db) {
      args.out[2].as<T>()[c] = static_cast<T>(totals.db);
    }
  }
}

void group_norm_grad(const Args& args) noexcept {
  const auto function =
      HWY_DYNAMIC_DISPATCH(group_norm_grad_cells)(args.in[0].dtype);
  const Shape& shape = args.in[1].shape;
  if (shape.element_count() == 0) {
    clear_sums(args);
    return;
  }
  run_norm_cells(args, shape, args.attrs_as<ChannelNormGradAttrs>().groups,
                 function);
  if (sums_planes(args)) {
    args.in[0].dtype == f32 ? finish_sums<float>(args)
                            : finish_sums<double>(args);
  }
}

void group_norm_sums(const Args& args) noexcept {
  const auto& wanted = args.attrs_as<ChannelNormGradAttrs>();
  const Shape& shape = args.in[1].shape;
  if (shape.element_count() == 0) {
    return;
  }
  run_norm_cells(args, shape, wanted.groups,
                 HWY_DYNAMIC_DISPATCH(group_norm_grad_cells)(args.in[0].dtype));
  auto* const dw = wanted.dw ? args.out[0].as<double>() : nullptr;
  auto* const db =
      wanted.db ? args.out[wanted.dw ? 1 : 0].as<double>() : nullptr;
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    const PlaneTotals totals = add_samples(
        args, c,
        {.db = db != nullptr ? db[c] : 0.0, .dw = dw != nullptr ? dw[c] : 0.0});
    if (dw != nullptr) {
      dw[c] = totals.dw;
    }
    if (db != nullptr) {
      db[c] = totals.db;
    }
  }
}

template <class T>
void grad_reference(const Args& args) noexcept {
  GradReference<T>(args).run();
}

constexpr std::array kBatch = float_rows<"batch_norm_grad">(
    {.run = batch_norm_grad}, {grad_reference<float>},
    {grad_reference<double>});

constexpr std::array kGroup = float_rows<"group_norm_grad">(
    {.run = group_norm_grad, .scratch = group_scratch}, {grad_reference<float>},
    {grad_reference<double>});

constexpr std::array kGroupSums{Kernel{.name = "group_norm_sums.f32",
                                       .dtype = f32,
                                       .run = group_norm_sums,
                                       .scratch = group_scratch},
                                Kernel{.name = "group_norm_sums.f64",
                                       .dtype = f64,
                                       .run = group_norm_sums,
                                       .scratch = group_scratch}};

}  // namespace

constinit const KernelList group_norm_sums_kernels{"group_norm_sums",
                                                   kGroupSums};
constinit const KernelList batch_norm_grad_kernels{"batch_norm_grad", kBatch};
constinit const KernelList group_norm_grad_kernels{"group_norm_grad", kGroup};

}  // namespace neap::kernels
#endif  // HWY_ONCE
