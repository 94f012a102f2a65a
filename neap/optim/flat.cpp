// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/flat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace neap::optim {
namespace {

constexpr std::int64_t kLanes = 8;

template <class T>
T* elements(const Piece& piece) noexcept {
  return reinterpret_cast<T*>(piece.data);
}

template <class F>
void visit(const Piece& piece, const F& f) noexcept {
  if (piece.dtype == f32) {
    f(0.0F);
  } else {
    f(0.0);
  }
}

// The sum of term(i), in lanes that are added up in order.
template <class Term>
double sum(std::int64_t count, const Term& term) noexcept {
  std::array<double, kLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t k = 0; k < kLanes; ++k) {
      lanes[static_cast<std::size_t>(k)] += term(i + k);
    }
  }
  double total = 0.0;
  for (const double lane : lanes) {
    total += lane;
  }
  for (; i < count; ++i) {
    total += term(i);
  }
  return total;
}

}  // namespace

double dot(const Flat& a, const Flat& b) noexcept {
  double total = 0.0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    visit(a[p], [&](auto zero) {
      using T = decltype(zero);
      const T* x = elements<T>(a[p]);
      const T* y = elements<T>(b[p]);
      total += sum(a[p].count, [x, y](std::int64_t i) {
        return static_cast<double>(x[i]) * static_cast<double>(y[i]);
      });
    });
  }
  return total;
}

double max_abs(const Flat& a) noexcept {
  double most = 0.0;
  for (const Piece& piece : a) {
    visit(piece, [&](auto zero) {
      using T = decltype(zero);
      const T* x = elements<T>(piece);
      for (std::int64_t i = 0; i < piece.count; ++i) {
        const double size = std::fabs(static_cast<double>(x[i]));
        most = size > most || std::isnan(size) ? size : most;  // NaN stays
      }
    });
  }
  return most;
}

double sum_abs(const Flat& a) noexcept {
  double total = 0.0;
  for (const Piece& piece : a) {
    visit(piece, [&](auto zero) {
      using T = decltype(zero);
      const T* x = elements<T>(piece);
      total += sum(piece.count, [x](std::int64_t i) {
        return std::fabs(static_cast<double>(x[i]));
      });
    });
  }
  return total;
}

void copy(const Flat& x, const Flat& y) noexcept {
  for (std::size_t p = 0; p < x.size(); ++p) {
    const std::int64_t bytes = x[p].count * size_of(x[p].dtype);
    std::copy_n(x[p].data, bytes, y[p].data);
  }
}

void scale(double alpha, const Flat& x, const Flat& y) noexcept {
  for (std::size_t p = 0; p < x.size(); ++p) {
    visit(x[p], [&](auto zero) {
      using T = decltype(zero);
      const T* from = elements<T>(x[p]);
      T* to = elements<T>(y[p]);
      for (std::int64_t i = 0; i < x[p].count; ++i) {
        to[i] = static_cast<T>(alpha * static_cast<double>(from[i]));
      }
    });
  }
}

void add(const Flat& x, double alpha, const Flat& d, const Flat& y) noexcept {
  for (std::size_t p = 0; p < x.size(); ++p) {
    visit(x[p], [&](auto zero) {
      using T = decltype(zero);
      const T* from = elements<T>(x[p]);
      const T* by = elements<T>(d[p]);
      T* to = elements<T>(y[p]);
      for (std::int64_t i = 0; i < x[p].count; ++i) {
        to[i] = static_cast<T>(static_cast<double>(from[i]) +
                               alpha * static_cast<double>(by[i]));
      }
    });
  }
}

void fill_zero(const Flat& y) noexcept {
  for (const Piece& piece : y) {
    std::fill_n(piece.data, piece.count * size_of(piece.dtype), std::byte{0});
  }
}

}  // namespace neap::optim
