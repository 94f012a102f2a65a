// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/optim/muon.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements; a range of one thread
constexpr Bytes kAligned = 64;

// A matrix x with the short side first: (short, long), from one of R rows and C
// columns.
struct Extents {
  explicit Extents(const Shape& shape) noexcept
      : rows(shape[0]),
        columns(rows == 0 ? 0 : shape.element_count() / rows),
        least(std::min(rows, columns)),
        most(std::max(rows, columns)) {}

  std::int64_t count() const noexcept { return rows * columns; }
  // The place in x of element i of the parameter, in row-major order.
  std::int64_t place(std::int64_t i) const noexcept {
    return rows <= columns ? i : i % columns * rows + i / columns;
  }

  std::int64_t rows;
  std::int64_t columns;
  std::int64_t least;
  std::int64_t most;
};

// C (m, n) = start + A B, with B of the same k rows; null pointers for sizes.
template <class T>
Gemm<T> product(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  Gemm<T> out;
  out.m = m;
  out.n = n;
  out.k = k;
  out.a.row_stride = k;
  out.a.column_stride = 1;
  out.b.row_stride = n;
  out.b.column_stride = 1;
  return out;
}

// x x^T, of x (m, k).
template <class T>
Gemm<T> gram_product(std::int64_t m, std::int64_t k) noexcept {
  Gemm<T> out = product<T>(m, m, k);
  out.b.row_stride = 1;
  out.b.column_stride = k;
  return out;
}

// (m, m) times (m, n), added to C.
template <class T>
Gemm<T> step_product(std::int64_t m, std::int64_t n) noexcept {
  Gemm<T> out = product<T>(m, n, m);
  out.start = GemmStart::kC;
  return out;
}

Bytes aligned(Bytes bytes) noexcept {
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

// The scratch: x, the next x, s, the polynomial of s, and what products need.
template <class T>
struct Layout {
  Layout(const Extents& x, int threads) noexcept
      : matrix(aligned(x.count() * Bytes{sizeof(T)})),
        gram(aligned(x.least * x.least * Bytes{sizeof(T)})),
        products(std::max(
            {gemm_scratch_bytes(gram_product<T>(x.least, x.most), threads),
             gemm_scratch_bytes(product<T>(x.least, x.least, x.least), threads),
             gemm_scratch_bytes(step_product<T>(x.least, x.most), threads)})) {}

  Bytes total() const noexcept { return 2 * matrix + 2 * gram + products; }

  Bytes matrix;
  Bytes gram;
  Bytes products;
};

template <class T>
class Step {
 public:
  explicit Step(const Args& args) noexcept
      : args_(args),
        attrs_(args.attrs_as<MuonAttrs>()),
        extents_(args.out[0].shape) {
    const Layout<T> layout(extents_, args.executor->threads());
    std::byte* at = args.scratch.data();
    const auto take = [&](Bytes bytes) noexcept {
      return std::exchange(at, at + bytes);
    };
    x_ = reinterpret_cast<T*>(take(layout.matrix));
    next_ = reinterpret_cast<T*>(take(layout.matrix));
    gram_ = reinterpret_cast<T*>(take(layout.gram));
    polynomial_ = reinterpret_cast<T*>(take(layout.gram));
    products_ = {at, static_cast<std::size_t>(layout.products)};
  }

  void run() noexcept {
    move_momentum();
    normalise();
    for (std::int32_t i = 0; i < attrs_.steps; ++i) {
      iterate();
    }
    update();
  }

 private:
  template <class Function>
  void over(std::int64_t count, const Function& function) noexcept {
    threads::parallel_for(*args_.executor, count, kGrain,
                          [&](std::int64_t begin, std::int64_t end) noexcept {
                            for (std::int64_t i = begin; i < end; ++i) {
                              function(i);
                            }
                          });
  }

  void move_momentum() noexcept {
    const auto scale = static_cast<T>(attrs_.grad_scale);
    const auto fresh = static_cast<T>(1.0 - attrs_.momentum);
    const auto momentum = static_cast<T>(attrs_.momentum);
    over(extents_.count(), [&](std::int64_t i) noexcept {
      const T g = scale * element<T>(args_.in[0], i);
      T& m = element<T>(args_.out[1], i);
      m += fresh * (g - m);
      x_[extents_.place(i)] = attrs_.nesterov ? g + momentum * (m - g) : m;
    });
  }

  // Then no singular value is above 1.
  void normalise() noexcept {
    double squares = 0.0;
    for (std::int64_t i = 0; i < extents_.count(); ++i) {
      squares += static_cast<double>(x_[i]) * static_cast<double>(x_[i]);
    }
    const double norm = std::sqrt(squares);
    const auto size = static_cast<T>(norm < attrs_.eps ? attrs_.eps : norm);
    over(extents_.count(), [&](std::int64_t i) noexcept { x_[i] /= size; });
  }

  void iterate() noexcept {
    const std::int64_t m = extents_.least;
    Gemm<T> outer = gram_product<T>(m, extents_.most);
    outer.a.data = outer.b.data = x_;
    outer.c = gram_;
    gemm(outer, products_, *args_.executor);
    Gemm<T> square = product<T>(m, m, m);
    square.a.data = square.b.data = gram_;
    square.c = polynomial_;
    gemm(square, products_, *args_.executor);
    const auto a = static_cast<T>(attrs_.a);
    const auto b = static_cast<T>(attrs_.b);
    const auto c = static_cast<T>(attrs_.c);
    over(m * m, [&](std::int64_t i) noexcept {
      polynomial_[i] = b * gram_[i] + c * polynomial_[i];
    });
    over(extents_.count(),
         [&](std::int64_t i) noexcept { next_[i] = a * x_[i]; });
    Gemm<T> step = step_product<T>(m, extents_.most);
    step.a.data = polynomial_;
    step.b.data = x_;
    step.c = next_;
    gemm(step, products_, *args_.executor);
    std::swap(x_, next_);
  }

  double adjusted_rate() const noexcept {
    const auto rows = static_cast<double>(extents_.rows);
    const auto columns = static_cast<double>(extents_.columns);
    switch (attrs_.rate) {
      case MuonRate::kOriginal:
        return attrs_.lr * std::sqrt(std::max(1.0, rows / columns));
      case MuonRate::kAdamW:
        return attrs_.lr * 0.2 * std::sqrt(std::max(rows, columns));
      case MuonRate::kNone:
        break;
    }
    return attrs_.lr;
  }

  void update() noexcept {
    const auto rate = static_cast<T>(adjusted_rate());
    const auto shrink = static_cast<T>(1.0 - attrs_.lr * attrs_.weight_decay);
    over(extents_.count(), [&](std::int64_t i) noexcept {
      T& p = element<T>(args_.out[0], i);
      p = shrink * p - rate * x_[extents_.place(i)];
    });
  }

  const Args& args_;
  const MuonAttrs& attrs_;
  Extents extents_;
  T* x_ = nullptr;           // (least, most)
  T* next_ = nullptr;        // (least, most)
  T* gram_ = nullptr;        // (least, least), x x^T
  T* polynomial_ = nullptr;  // (least, least)
  std::span<std::byte> products_;
};

template <class T>
void muon(const Args& args) noexcept {
  if (args.out[0].shape.element_count() != 0) {
    Step<T>(args).run();
  }
}

bool is_matrix(const Args& args) noexcept {
  return args.out[0].shape.rank() >= 2;
}

template <class T>
Bytes scratch(const Args& args) noexcept {
  const Shape& shape = args.out[0].shape;
  return shape.element_count() == 0
             ? 0
             : Layout<T>(Extents(shape), args.executor->threads()).total();
}

constexpr std::array kKernels{
    Kernel{.name = "muon.f32",
           .dtype = f32,
           .run = muon<float>,
           .accepts = is_matrix,
           .scratch = scratch<float>},
    Kernel{.name = "muon.f64",
           .dtype = f64,
           .run = muon<double>,
           .accepts = is_matrix,
           .scratch = scratch<double>},
};

}  // namespace

constinit const KernelList muon_kernels{"muon", kKernels};

}  // namespace neap::kernels
