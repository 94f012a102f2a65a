// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/norm/layer_norm.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/norm/layer_norm.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/norm/norm-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// x - m and its square
template <class T>
struct AddFrom {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V* sums, V x) const {
    const V from = hn::Sub(x, hn::Set(d, m));
    sums[0] = hn::Add(sums[0], from);
    sums[1] = hn::MulAdd(from, from, sums[1]);
  }
  T m;
};

struct AddSquare {
  template <class D, class V>
  HWY_INLINE void operator()(D, V* sums, V x) const {
    sums[0] = hn::MulAdd(x, x, sums[0]);
  }
};

// y = xhat w + b
template <class T, bool kCentered>
struct Normalise {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return normal.xhat(d, x);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V w) const {
    return hn::Mul(normal.xhat(d, x), w);
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V w, V b) const {
    return hn::MulAdd(normal.xhat(d, x), w, b);
  }
  Normal<T, kCentered> normal;
};

template <std::size_t kSums, class Map, class T>
void add_row(const Map& map, RowBlock<T>& block, const T* row,
             std::int64_t length, double* totals) {
  for_blocks(length, [&](std::int64_t first, std::int64_t count) HWY_ATTR {
    add_block<kSums>(map, count, totals, block.read(row, first, count));
  });
}

struct Moments {
  double mean;
  double var;
};

template <class T>
Moments moments_from(T m, RowBlock<T>& block, const T* row,
                     std::int64_t length) {
  double from[2] = {0.0, 0.0};
  add_row<2>(AddFrom<T>{m}, block, row, length, from);
  const auto n = static_cast<double>(length);
  const double rest = from[0] / n;
  return {static_cast<double>(m) + rest, from[1] / n - rest * rest};
}

// Mean and 1 / sqrt(var + eps), or the latter alone.
template <class T, bool kCentered>
void measure(RowBlock<T>& block, const T* row, std::int64_t length, double eps,
             double* stats) {
  if constexpr (kCentered) {
    Moments moments = moments_from(row[0], block, row, length);
    const double off = moments.mean - static_cast<double>(row[0]);
    if (off * off > 4.0 * moments.var) {
      moments = moments_from(static_cast<T>(moments.mean), block, row, length);
    }
    stats[0] = moments.mean;
    stats[1] = 1.0 / std::sqrt((moments.var < 0.0 ? 0.0 : moments.var) + eps);
  } else {
    double total = 0.0;
    add_row<1>(AddSquare(), block, row, length, &total);
    stats[0] = 1.0 / std::sqrt(total / static_cast<double>(length) + eps);
  }
}

template <class T, bool kCentered>
class Forward {
 public:
  explicit Forward(const Args& args)
      : eps_(args.attrs_as<RowNormAttrs>().eps),
        extras_(args.in.size() - 1),
        x_(last_axis(args.in[0])),
        y_(last_axis(args.out[0])),
        stats_(last_axis(args.out[1])),
        w_(extras_ > 0 ? last_axis(args.in[1]) : x_),
        b_(extras_ > 1 ? last_axis(args.in[2]) : x_),
        in_(x_),
        out_(y_),
        w_block_(w_),
        b_block_(b_) {}

  std::int64_t in_hand() const { return rows_in_hand<T>(x_.length()); }

  void measure_row(std::int64_t row) {
    measure<T, kCentered>(in_, x_.at<const T>(row), x_.length(), eps_,
                          stats_.template at<double>(row));
  }

  void normalise_row(std::int64_t row) {
    const T* from = x_.at<const T>(row);
    T* to = y_.at<T>(row);
    const Normalise<T, kCentered> op{
        normal_of<T, kCentered>(stats_.template at<double>(row), 1)};
    for_blocks(x_.length(),
               [&](std::int64_t first, std::int64_t count) HWY_ATTR {
                 normalise(op, first, count, in_.read(from, first, count),
                           out_.place(to, first));
                 out_.commit(to, first, count);
               });
  }

 private:
  void normalise(const Normalise<T, kCentered>& op, std::int64_t first,
                 std::int64_t count, const T* from, T* to) {
    if (extras_ == 0) {
      map_arrays(op, count, to, from);
      return;
    }
    const T* w = w_block_.read(w_.at<const T>(0), first, count);
    if (extras_ == 1) {
      map_arrays(op, count, to, from, w);
      return;
    }
    map_arrays(op, count, to, from, w,
               b_block_.read(b_.at<const T>(0), first, count));
  }

  double eps_;
  std::size_t extras_;  // weight, then bias
  Rows x_;
  Rows y_;
  Rows stats_;
  Rows w_;
  Rows b_;
  RowBlock<T> in_;
  RowBlock<T> out_;
  RowBlock<T> w_block_;
  RowBlock<T> b_block_;
};

template <class T, bool kCentered>
void forward_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  Forward<T, kCentered> forward(args);
  while (begin < end) {
    const std::int64_t last = std::min(begin + forward.in_hand(), end);
    for (std::int64_t row = begin; row < last; ++row) {
      forward.measure_row(row);
    }
    for (; begin < last; ++begin) {
      forward.normalise_row(begin);
    }
  }
}

}  // namespace

RowsFunction layer_norm_rows(DType dtype) {
  return dtype == f32 ? forward_rows<float, true> : forward_rows<double, true>;
}

RowsFunction rms_norm_rows(DType dtype) {
  return dtype == f32 ? forward_rows<float, false>
                      : forward_rows<double, false>;
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(layer_norm_rows);
HWY_EXPORT(rms_norm_rows);

void layer_norm(const Args& args) noexcept {
  run_rows(args, Rows(args.in[0], args.in[0].shape.rank() - 1),
           HWY_DYNAMIC_DISPATCH(layer_norm_rows)(args.in[0].dtype));
}

void rms_norm(const Args& args) noexcept {
  run_rows(args, Rows(args.in[0], args.in[0].shape.rank() - 1),
           HWY_DYNAMIC_DISPATCH(rms_norm_rows)(args.in[0].dtype));
}

// In double, rounded once.
template <class T, bool kCentered>
void reference_row(const Args& args, std::int64_t row) noexcept {
  const std::int64_t n = args.in[0].shape.back();
  const auto x = [&](std::int64_t i) {
    return static_cast<double>(element<T>(args.in[0], row * n + i));
  };
  double mean = 0.0;
  for (std::int64_t i = 0; kCentered && i < n; ++i) {
    mean += x(i) / static_cast<double>(n);
  }
  double var = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    var += (x(i) - mean) * (x(i) - mean) / static_cast<double>(n);
  }
  const double scale = 1.0 / std::sqrt(var + args.attrs_as<RowNormAttrs>().eps);
  const auto extra = [&](std::size_t k, std::int64_t i, double otherwise) {
    return args.in.size() > k ? static_cast<double>(element<T>(args.in[k], i))
                              : otherwise;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    element<T>(args.out[0], row * n + i) = static_cast<T>(
        (x(i) - mean) * scale * extra(1, i, 1.0) + extra(2, i, 0.0));
  }
  auto* stats = args.out[1].as<double>() + row * (kCentered ? 2 : 1);
  stats[0] = mean;
  stats[kCentered ? 1 : 0] = scale;
}

template <class T, bool kCentered>
void norm_reference(const Args& args) noexcept {
  const Rows x(args.in[0], args.in[0].shape.rank() - 1);
  for (std::int64_t row = 0; x.length() > 0 && row < x.count(); ++row) {
    reference_row<T, kCentered>(args, row);
  }
}

constexpr std::array kLayer =
    float_rows<"layer_norm">({.run = layer_norm}, {norm_reference<float, true>},
                             {norm_reference<double, true>});

constexpr std::array kRms =
    float_rows<"rms_norm">({.run = rms_norm}, {norm_reference<float, false>},
                           {norm_reference<double, false>});

}  // namespace

constinit const KernelList layer_norm_kernels{"layer_norm", kLayer};
constinit const KernelList rms_norm_kernels{"rms_norm", kRms};

}  // namespace neap::kernels
#endif  // HWY_ONCE
