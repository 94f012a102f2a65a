// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/optim/adafactor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/reduction/rows.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 8192;  // elements; a range of one thread
constexpr std::int64_t kColumns = 64;  // added up side by side

// The settings as numbers of T.
template <class T>
struct Settings {
  explicit Settings(const AdafactorAttrs& a) noexcept
      : scale(static_cast<T>(a.maximize ? -a.grad_scale : a.grad_scale)),
        shrink(static_cast<T>(1.0 - a.lr * a.weight_decay)),
        eps1(a.eps1 == 0.0 ? std::numeric_limits<T>::epsilon()
                           : static_cast<T>(a.eps1)) {}

  // u of a gradient that has its sign and scale, with its estimate of g g.
  T direction(T g, T estimate) const noexcept {
    const T least = eps1 * eps1;
    return g / std::sqrt(estimate < least ? least : estimate);
  }

  T scale;
  T shrink;
  T eps1;
};

template <class T>
T mixed(T old, double fresh, double value) noexcept {
  const auto was = static_cast<double>(old);
  return static_cast<T>(was + fresh * (value - was));
}

// The factor of u: the relative rate over the clipped size of all of u.
double rate_of(const AdafactorAttrs& a, double param_squares, double u_squares,
               std::int64_t count) noexcept {
  const auto elements = static_cast<double>(count);
  const double size = std::sqrt(param_squares) / std::sqrt(elements);
  const double u_size = std::sqrt(u_squares) / (std::sqrt(elements) * a.clip);
  return a.rho * std::max(a.eps2, size) / std::max(1.0, u_size);
}

// A parameter of rank 0 or 1 has no factors; one thread updates it.
template <class T>
void update_vector(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<AdafactorAttrs>();
  const Settings<T> by(attrs);
  const std::int64_t count = args.out[0].shape.element_count();
  const auto direction = [&](std::int64_t i) noexcept {
    return by.direction(by.scale * element<T>(args.in[0], i),
                        element<T>(args.out[1], i));
  };
  double param_squares = 0.0;
  double u_squares = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto p = static_cast<double>(element<T>(args.out[0], i));
    const auto g = static_cast<double>(by.scale * element<T>(args.in[0], i));
    T& v = element<T>(args.out[1], i);
    v = mixed(v, attrs.fresh, g * g);
    const auto u = static_cast<double>(direction(i));
    param_squares += p * p;
    u_squares += u * u;
  }
  const auto rate =
      static_cast<T>(rate_of(attrs, param_squares, u_squares, count));
  for (std::int64_t i = 0; i < count; ++i) {
    T& p = element<T>(args.out[0], i);
    p = by.shrink * p - rate * direction(i);
  }
}

// A stack of matrices, whose rows are numbered through all of them.
template <class T>
class Factored {
 public:
  explicit Factored(const Args& args) noexcept
      : attrs_(args.attrs_as<AdafactorAttrs>()),
        by_(attrs_),
        executor_(*args.executor),
        g_(args.in[0], args.in[0].shape.rank() - 1),
        p_(args.out[0], args.out[0].shape.rank() - 1),
        row_(args.out[1].as<T>()),
        col_(args.out[2].as<T>()),
        height_(args.out[0].shape[args.out[0].shape.rank() - 2]),
        width_(g_.length()),
        sums_(reinterpret_cast<double*>(args.scratch.data())),
        means_(sums_ + g_.count()) {}

  void run() noexcept {
    const double param_squares = over_rows([&](std::int64_t r) noexcept {
      row_[r] = mixed(row_[r], attrs_.fresh, squares_of(g_, r) / width());
      return squares_of(p_, r);
    });
    mix_columns();
    set_means();
    const double u_squares = over_rows([&](std::int64_t r) noexcept {
      double sum = 0.0;
      for (std::int64_t j = 0; j < width_; ++j) {
        const auto u = static_cast<double>(direction(r, j));
        sum += u * u;
      }
      return sum;
    });
    const auto rate = static_cast<T>(
        rate_of(attrs_, param_squares, u_squares, g_.count() * width_));
    over_rows([&](std::int64_t r) noexcept {
      T* p = p_.at<T>(r);
      for (std::int64_t j = 0; j < width_; ++j) {
        T& one = p[j * p_.stride()];
        one = by_.shrink * one - rate * direction(r, j);
      }
      return 0.0;
    });
  }

 private:
  double width() const noexcept { return static_cast<double>(width_); }

  T grad(std::int64_t r, std::int64_t j) const noexcept {
    return by_.scale * g_.at<const T>(r)[j * g_.stride()];
  }
  T direction(std::int64_t r, std::int64_t j) const noexcept {
    const std::int64_t matrix = r / height_;
    const T share = row_[r] / static_cast<T>(means_[matrix]);
    return by_.direction(grad(r, j), share * col_[matrix * width_ + j]);
  }

  double squares_of(const Rows& rows, std::int64_t r) const noexcept {
    const T* at = rows.at<const T>(r);
    const T scale = &rows == &g_ ? by_.scale : T{1};
    double sum = 0.0;
    for (std::int64_t j = 0; j < width_; ++j) {
      const auto x = static_cast<double>(scale * at[j * rows.stride()]);
      sum += x * x;
    }
    return sum;
  }

  // The sum of value(row) over all rows, in their order.
  template <class Value>
  double over_rows(const Value& value) noexcept {
    threads::parallel_for(executor_, g_.count(), g_.grain(kGrain),
                          [&](std::int64_t begin, std::int64_t end) noexcept {
                            for (std::int64_t r = begin; r < end; ++r) {
                              sums_[r] = value(r);
                            }
                          });
    double sum = 0.0;
    for (std::int64_t r = 0; r < g_.count(); ++r) {
      sum += sums_[r];
    }
    return sum;
  }

  void mix_columns() noexcept {
    const std::int64_t blocks = (width_ + kColumns - 1) / kColumns;
    const std::int64_t grain = kGrain / (height_ * kColumns) + 1;
    threads::parallel_for(executor_, g_.count() / height_ * blocks, grain,
                          [&](std::int64_t begin, std::int64_t end) noexcept {
                            for (std::int64_t i = begin; i < end; ++i) {
                              mix_block(i / blocks, i % blocks * kColumns);
                            }
                          });
  }

  void mix_block(std::int64_t matrix, std::int64_t first) noexcept {
    const std::int64_t count = std::min(kColumns, width_ - first);
    std::array<double, kColumns> sums{};
    for (std::int64_t i = 0; i < height_; ++i) {
      for (std::int64_t j = 0; j < count; ++j) {
        const auto g =
            static_cast<double>(grad(matrix * height_ + i, first + j));
        sums[static_cast<std::size_t>(j)] += g * g;
      }
    }
    for (std::int64_t j = 0; j < count; ++j) {
      T& col = col_[matrix * width_ + first + j];
      col = mixed(
          col, attrs_.fresh,
          sums[static_cast<std::size_t>(j)] / static_cast<double>(height_));
    }
  }

  void set_means() noexcept {
    for (std::int64_t m = 0; m < g_.count() / height_; ++m) {
      double sum = 0.0;
      for (std::int64_t i = 0; i < height_; ++i) {
        sum += static_cast<double>(row_[m * height_ + i]);
      }
      means_[m] = std::max(sum / static_cast<double>(height_),
                           static_cast<double>(by_.eps1));
    }
  }

  const AdafactorAttrs& attrs_;
  Settings<T> by_;
  threads::Executor& executor_;
  Rows g_;
  Rows p_;
  T* row_;
  T* col_;
  std::int64_t height_;
  std::int64_t width_;
  double* sums_;   // of each row
  double* means_;  // of the row factors, of each matrix
};

template <class T>
void adafactor(const Args& args) noexcept {
  if (args.out[0].shape.element_count() == 0) {
    return;
  }
  if (args.out.size() == 2) {
    update_vector<T>(args);
  } else {
    Factored<T>(args).run();
  }
}

Bytes scratch(const Args& args) noexcept {
  const Shape& shape = args.out[0].shape;
  if (args.out.size() == 2 || shape.element_count() == 0) {
    return 0;
  }
  const std::int64_t rows = shape.element_count() / shape.back();
  const std::int64_t matrices = rows / shape[shape.rank() - 2];
  return (rows + matrices) * static_cast<Bytes>(sizeof(double));
}

constexpr std::array kKernels{
    Kernel{.name = "adafactor.f32",
           .dtype = f32,
           .run = adafactor<float>,
           .scratch = scratch},
    Kernel{.name = "adafactor.f64",
           .dtype = f64,
           .run = adafactor<double>,
           .scratch = scratch},
};

}  // namespace

constinit const KernelList adafactor_kernels{"adafactor", kKernels};

}  // namespace neap::kernels
