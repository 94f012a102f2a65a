// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/norm/layer_norm_grad.hpp"

#include <array>
#include <cstring>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/norm/layer_norm_grad.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/norm/norm_columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// g and g (x - near)
template <class T, bool kCentered>
struct AddGradient {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V* sums, V dy, V x) const {
    constexpr std::size_t kLast = kCentered ? 1 : 0;
    if constexpr (kCentered) {
      sums[0] = hn::Add(sums[0], dy);
    }
    sums[kLast] = hn::MulAdd(dy, normal.from_near(d, x), sums[kLast]);
  }
  template <class D, class V>
  HWY_INLINE void operator()(D d, V* sums, V dy, V x, V w) const {
    (*this)(d, sums, hn::Mul(dy, w), x);
  }
  Normal<T, kCentered> normal;
};

// dx = scale (g - level + slope (x - near)), which is
// scale (g - mean g - xhat mean(g xhat)) with xhat put in.
template <class T, bool kCentered>
struct Derive {
  Derive() = default;
  Derive(const Normal<T, kCentered>& of, const double* totals, double n)
      : normal(of) {
    const auto scale = static_cast<double>(of.scale);
    const auto rest = static_cast<double>(of.rest);
    const double mean = kCentered ? totals[0] / n : 0.0;
    const double along =
        totals[kCentered ? 1 : 0] / n * scale + mean * rest;  // mean(g xhat)
    slope = static_cast<T>(-along * scale);
    level = static_cast<T>(mean + along * rest);
  }

  template <class D, class V>
  HWY_INLINE V operator()(D d, V dy, V x) const {
    if constexpr (kCentered) {
      dy = hn::Sub(dy, hn::Set(d, level));
    }
    dy = hn::MulAdd(normal.from_near(d, x), hn::Set(d, slope), dy);
    return hn::Mul(dy, hn::Set(d, normal.scale));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V dy, V x, V w) const {
    return (*this)(d, hn::Mul(dy, w), x);
  }
  Normal<T, kCentered> normal;
  T slope{};
  T level{};
};

template <class T, bool kCentered>
class Backward {
 public:
  explicit Backward(const Args& args)
      : weighted_(args.in.size() > 3),
        dy_(last_axis(args.in[0])),
        x_(last_axis(args.in[1])),
        stats_(last_axis(args.in[2])),
        w_(weighted_ ? last_axis(args.in[3]) : x_),
        dx_(last_axis(args.out[0])),
        dy_block_(dy_),
        x_block_(x_),
        w_block_(w_),
        out_(dx_) {}

  std::int64_t in_hand() const { return rows_in_hand<T>(x_.length()); }

  // `place` is the row's among those in hand.
  void sum_row(std::int64_t row, std::int64_t place) {
    const T* dy = dy_.at<const T>(row);
    const T* x = x_.at<const T>(row);
    const auto normal =
        normal_of<T, kCentered>(stats_.at<const double>(row), stats_.stride());
    double totals[2] = {0.0, 0.0};
    const AddGradient<T, kCentered> add{normal};
    for_blocks(x_.length(),
               [&](std::int64_t first, std::int64_t count) HWY_ATTR {
                 with_arrays(dy, x, first, count, [&](auto... in) HWY_ATTR {
                   add_block<kCentered ? 2 : 1>(add, count, totals, in...);
                 });
               });
    rules_[static_cast<std::size_t>(place)] =
        Derive<T, kCentered>(normal, totals, static_cast<double>(x_.length()));
  }

  void derive_row(std::int64_t row, std::int64_t place) {
    const T* dy = dy_.at<const T>(row);
    const T* x = x_.at<const T>(row);
    const Derive<T, kCentered> op = rules_[static_cast<std::size_t>(place)];
    T* to = dx_.at<T>(row);
    for_blocks(x_.length(),
               [&](std::int64_t first, std::int64_t count) HWY_ATTR {
                 with_arrays(dy, x, first, count, [&](auto... in) HWY_ATTR {
                   map_arrays(op, count, out_.place(to, first), in...);
                 });
                 out_.commit(to, first, count);
               });
  }

 private:
  // Calls body(dy, x) or body(dy, x, w) with a block of each.
  template <class Body>
  HWY_INLINE void with_arrays(const T* dy, const T* x, std::int64_t first,
                              std::int64_t count, const Body& body) {
    const T* const dy_part = dy_block_.read(dy, first, count);
    const T* const x_part = x_block_.read(x, first, count);
    if (weighted_) {
      body(dy_part, x_part, w_block_.read(w_.at<const T>(0), first, count));
    } else {
      body(dy_part, x_part);
    }
  }

  bool weighted_;
  Rows dy_;
  Rows x_;
  Rows stats_;
  Rows w_;
  Rows dx_;
  RowBlock<T> dy_block_;
  RowBlock<T> x_block_;
  RowBlock<T> w_block_;
  RowBlock<T> out_;
  std::array<Derive<T, kCentered>, kRowsInHand> rules_;
};

template <class T, bool kCentered>
void dx_rows(const Args& args, std::int64_t begin, std::int64_t end) {
  Backward<T, kCentered> backward(args);
  while (begin < end) {
    const std::int64_t rows = std::min(backward.in_hand(), end - begin);
    for (std::int64_t i = 0; i < rows; ++i) {
      backward.sum_row(begin + i, i);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      backward.derive_row(begin + i, i);
    }
    begin += rows;
  }
}

template <class T, bool kCentered>
void add_columns(const Args& args, std::int64_t begin, std::int64_t end,
                 std::int64_t first, std::int64_t last) {
  Columns<T, kCentered>(args).run(begin, end, first, last);
}

template <bool kCentered>
NormGradParts parts_for(DType dtype) {
  return dtype == f32 ? NormGradParts{dx_rows<float, kCentered>,
                                      add_columns<float, kCentered>}
                      : NormGradParts{dx_rows<double, kCentered>,
                                      add_columns<double, kCentered>};
}

}  // namespace

NormGradParts layer_norm_grad_parts(DType dtype) {
  return parts_for<true>(dtype);
}

NormGradParts rms_norm_grad_parts(DType dtype) {
  return parts_for<false>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(layer_norm_grad_parts);
HWY_EXPORT(rms_norm_grad_parts);

void clear(const Strided& sums) noexcept {
  if (sums.data != nullptr) {
    std::memset(sums.data, 0,
                static_cast<std::size_t>(sums.shape.element_count() *
                                         size_of(sums.dtype)));
  }
}

// Rows whose dy and x a core keeps close by when it works alone; several share
// a farther cache, and starting them takes some work to pay for.
std::int64_t rows_at_once(const Args& args, std::int64_t length) noexcept {
  constexpr std::int64_t kAlone = 64 << 10;      // bytes
  constexpr std::int64_t kTogether = 512 << 10;  // bytes
  const std::int64_t row =
      std::max<std::int64_t>(2 * length * size_of(args.in[0].dtype), 1);
  const bool is_alone = args.executor->threads() == 1;
  return std::max<std::int64_t>((is_alone ? kAlone : kTogether) / row, 4);
}

void run_grad(const Args& args, const NormGradParts& parts) noexcept {
  constexpr std::int64_t kWork = 4096;  // elements; a range of one thread
  const auto& wanted = args.attrs_as<NormGradAttrs>();
  const Rows x(args.in[1], args.in[1].shape.rank() - 1);
  const std::int64_t length = x.length();
  const std::int64_t count = length == 0 ? 0 : x.count();
  const std::int64_t step = rows_at_once(args, length);
  for (std::int64_t first = 0; first < count; first += step) {
    const std::int64_t rows = std::min(step, count - first);
    // Before dx, which may take the place of dy or x.
    if (wanted.dw || wanted.db) {
      threads::parallel_for(
          *args.executor, length, (kWork / rows / 64 + 1) * 64,
          [&](std::int64_t begin, std::int64_t end) noexcept {
            parts.columns(args, first, first + rows, begin, end);
          });
    }
    if (wanted.dx) {
      threads::parallel_for(*args.executor, rows, x.grain(kWork),
                            [&](std::int64_t begin, std::int64_t end) noexcept {
                              parts.dx(args, first + begin, first + end);
                            });
    }
  }
}

void clear_sums(const Args& args) noexcept {
  for (const Strided& sums : args.out.subspan(1)) {
    clear(sums);
  }
}

void layer_norm_grad(const Args& args) noexcept {
  clear_sums(args);
  run_grad(args, HWY_DYNAMIC_DISPATCH(layer_norm_grad_parts)(args.in[0].dtype));
}

void rms_norm_grad(const Args& args) noexcept {
  clear_sums(args);
  run_grad(args, HWY_DYNAMIC_DISPATCH(rms_norm_grad_parts)(args.in[0].dtype));
}

// The sums that are wanted, as outputs of the gradient that has no dx.
void run_sums(const Args& args, const NormGradParts& parts) noexcept {
  const auto& wanted = args.attrs_as<NormGradAttrs>();
  std::array<Strided, 3> out{};
  std::size_t next = 0;
  if (wanted.dw) {
    out[1] = args.out[next++];
  }
  if (wanted.db) {
    out[2] = args.out[next];
  }
  Args all = args;
  all.out = out;
  run_grad(all, parts);
}

void layer_norm_sums(const Args& args) noexcept {
  run_sums(args, HWY_DYNAMIC_DISPATCH(layer_norm_grad_parts)(args.in[0].dtype));
}

void rms_norm_sums(const Args& args) noexcept {
  run_sums(args, HWY_DYNAMIC_DISPATCH(rms_norm_grad_parts)(args.in[0].dtype));
}

// In double, rounded once; dw and db as they are added up.
template <class T, bool kCentered>
void reference_row(const Args& args, std::int64_t row) noexcept {
  const auto& wanted = args.attrs_as<NormGradAttrs>();
  const std::int64_t n = args.in[1].shape.back();
  const std::int64_t width = kCentered ? 2 : 1;
  const double scale =
      element<double>(args.in[2], row * width + (kCentered ? 1 : 0));
  const double mean = kCentered ? element<double>(args.in[2], row * width) : 0;
  const auto dy = [&](std::int64_t i) {
    return static_cast<double>(element<T>(args.in[0], row * n + i));
  };
  const auto g = [&](std::int64_t i) {
    return args.in.size() > 3
               ? dy(i) * static_cast<double>(element<T>(args.in[3], i))
               : dy(i);
  };
  const auto xhat = [&](std::int64_t i) {
    const auto x = static_cast<double>(element<T>(args.in[1], row * n + i));
    return (x - mean) * scale;
  };
  double mean_g = 0.0;
  double along = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    mean_g += kCentered ? g(i) / static_cast<double>(n) : 0.0;
    along += g(i) * xhat(i) / static_cast<double>(n);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    if (wanted.dw) {
      args.out[1].as<T>()[i] += static_cast<T>(dy(i) * xhat(i));
    }
    if (wanted.db) {
      args.out[2].as<T>()[i] += static_cast<T>(dy(i));
    }
    if (wanted.dx) {
      element<T>(args.out[0], row * n + i) =
          static_cast<T>(scale * (g(i) - mean_g - xhat(i) * along));
    }
  }
}

template <class T, bool kCentered>
void grad_reference(const Args& args) noexcept {
  clear_sums(args);
  const Rows x(args.in[1], args.in[1].shape.rank() - 1);
  for (std::int64_t row = 0; x.length() > 0 && row < x.count(); ++row) {
    reference_row<T, kCentered>(args, row);
  }
}

constexpr std::array kLayer = float_rows<"layer_norm_grad">(
    {.run = layer_norm_grad}, {grad_reference<float, true>},
    {grad_reference<double, true>});

constexpr std::array kRms = float_rows<"rms_norm_grad">(
    {.run = rms_norm_grad}, {grad_reference<float, false>},
    {grad_reference<double, false>});

template <void (*run)(const Args&) noexcept>
constexpr std::array<Kernel, 2> sums_rows(const char* of_f32,
                                          const char* of_f64) {
  return {Kernel{.name = of_f32, .dtype = f32, .run = run},
          Kernel{.name = of_f64, .dtype = f64, .run = run}};
}

constexpr std::array kLayerSums =
    sums_rows<layer_norm_sums>("layer_norm_sums.f32", "layer_norm_sums.f64");

constexpr std::array kRmsSums =
    sums_rows<rms_norm_sums>("rms_norm_sums.f32", "rms_norm_sums.f64");

}  // namespace

constinit const KernelList layer_norm_sums_kernels{"layer_norm_sums",
                                                   kLayerSums};
constinit const KernelList rms_norm_sums_kernels{"rms_norm_sums", kRmsSums};
constinit const KernelList layer_norm_grad_kernels{"layer_norm_grad", kLayer};
constinit const KernelList rms_norm_grad_kernels{"rms_norm_grad", kRms};

}  // namespace neap::kernels
#endif  // HWY_ONCE
