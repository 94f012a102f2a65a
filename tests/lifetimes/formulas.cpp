// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "formulas.hpp"

#include <algorithm>
#include <cmath>

namespace neap::lifetimes {
namespace {

// Every shape is taken as rows by columns; a list is one column.
std::size_t rows(const Shape& shape) {
  return static_cast<std::size_t>(shape[0]);
}
std::size_t columns(const Shape& shape) {
  return shape.rank() == 2 ? static_cast<std::size_t>(shape[1]) : 1;
}

constexpr std::array<OpFacts, static_cast<std::size_t>(OpKind::kCount)> kFacts =
    {{{"add", 2, 1, {0, 0}, 0, 0b11, false, false},
      {"sub", 2, 1, {0, 0}, 0, 0b11, false, false},
      {"mul", 2, 1, {0b10, 0b01}, 0, 0b11, false, false},
      {"matmul", 2, 1, {0b10, 0b01}, 0, 0, false, false},
      {"neg", 1, 1, {0, 0}, 0, 0b1, false, false},
      {"square", 1, 1, {0b1, 0}, 0, 0b1, false, false},
      {"sin", 1, 1, {0b1, 0}, 0, 0b1, false, false},
      {"exp", 1, 1, {0, 0}, 0b1, 0b1, false, false},
      {"tanh", 1, 1, {0, 0}, 0b1, 0b1, false, false},
      {"relu_bits", 1, 1, {0, 0}, 0, 0b1, false, true},
      {"sum", 1, 1, {0, 0}, 0, 0, false, false},
      {"reshape", 1, 1, {0, 0}, 0, 0, true, false},
      {"slice", 1, 1, {0, 0}, 0, 0, true, false},
      {"var", 1, 2, {0b1, 0}, 0b10, 0, false, false}}};

double of_one(OpKind op, double x) noexcept {
  switch (op) {
    case OpKind::kNeg:
      return -x;
    case OpKind::kSquare:
      return x * x;
    case OpKind::kSin:
      return std::sin(x);
    case OpKind::kExp:
      return std::exp(x);
    case OpKind::kTanh:
      return std::tanh(x);
    case OpKind::kRelu:
      return std::max(x, 0.0);
    default:
      return x;  // reshape
  }
}

double of_two(OpKind op, double a, double b) noexcept {
  return op == OpKind::kAdd ? a + b : op == OpKind::kSub ? a - b : a * b;
}

// dy/dx, and no less than its size and that of what it is computed of.
struct Slope {
  double value;
  double bound;
};

Slope slope_of_one(OpKind op, double x, double y) noexcept {
  switch (op) {
    case OpKind::kNeg:
      return {-1.0, 1.0};
    case OpKind::kSquare:
      return {2.0 * x, 2.0 * std::abs(x)};
    case OpKind::kSin:
      return {std::cos(x), 1.0};
    case OpKind::kExp:
      return {y, y};
    case OpKind::kTanh:
      return {1.0 - y * y, 1.0};
    case OpKind::kRelu:
      return {x > 0.0 ? 1.0 : 0.0, 1.0};
    default:
      return {1.0, 1.0};
  }
}

Slope slope_of_two(OpKind op, int input, double a, double b) noexcept {
  if (op == OpKind::kMul) {
    const double other = input == 0 ? b : a;
    return {other, std::abs(other)};
  }
  return {op == OpKind::kSub && input == 1 ? -1.0 : 1.0, 1.0};
}

// sum_target: the element of the only output that an element of the input is
// added to. slice_source: the element of the input that a slice takes.
std::size_t sum_target(const Call& call, std::size_t r, std::size_t c) {
  return (call.reduces[0] ? 0 : r) * columns(call.out[0]) +
         (call.reduces[1] ? 0 : c);
}

std::size_t slice_source(const Call& call, std::size_t i) {
  const auto start = static_cast<std::size_t>(call.start);
  const std::size_t r = i / columns(call.out[0]) + (call.axis == 0 ? start : 0);
  const std::size_t c = i % columns(call.out[0]) + (call.axis == 1 ? start : 0);
  return r * columns(call.in[0]) + c;
}

Values sum_of(const Call& call, const Values& x) {
  Values y{};
  for (std::size_t r = 0; r < rows(call.in[0]); ++r) {
    for (std::size_t c = 0; c < columns(call.in[0]); ++c) {
      y[sum_target(call, r, c)] += x[r * columns(call.in[0]) + c];
    }
  }
  return y;
}

Values product_of(const Call& call, const Values& a, const Values& b) {
  const std::size_t n = columns(call.out[0]);
  const std::size_t inner = columns(call.in[0]);
  Values y{};
  for (std::size_t i = 0; i < rows(call.out[0]); ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < inner; ++k) {
        y[i * n + j] += a[i * inner + k] * b[k * n + j];
      }
    }
  }
  return y;
}

ValuePair var_mean_of(const Call& call, const Values& x) {
  const std::size_t n = rows(call.in[0]);
  const std::size_t width = columns(call.in[0]);
  ValuePair y{};
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t r = 0; r < n; ++r) {
      y[1][c] += x[r * width + c] / static_cast<double>(n);
    }
    for (std::size_t r = 0; r < n; ++r) {
      const double away = x[r * width + c] - y[1][c];
      y[0][c] += away * away / static_cast<double>(n);
    }
  }
  return y;
}

void pull_back_product(const Call& call, const ValuePair& in,
                       const Cotangent& d, CotangentPair& out) {
  const std::size_t n = columns(call.out[0]);
  const std::size_t inner = columns(call.in[0]);
  for (std::size_t i = 0; i < rows(call.out[0]); ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < inner; ++k) {
        const double a = in[0][i * inner + k];
        const double b = in[1][k * n + j];
        const std::size_t at = i * n + j;
        out[0].add(i * inner + k, d.value[at] * b, d.bound[at] * std::abs(b));
        out[1].add(k * n + j, d.value[at] * a, d.bound[at] * std::abs(a));
      }
    }
  }
}

// dx = 2 dv (x - m) / n + dm / n.
void pull_back_var_mean(const Call& call, const Values& x, const Values& mean,
                        const CotangentPair& d, Cotangent& out) {
  const std::size_t width = columns(call.in[0]);
  const double share = 1.0 / static_cast<double>(rows(call.in[0]));
  for (std::size_t i = 0; i < count_of(call.in[0]); ++i) {
    const std::size_t c = i % width;
    if (d[0].is_defined) {
      const double size = std::abs(x[i]) + std::abs(mean[c]);
      out.add(i, 2.0 * share * d[0].value[c] * (x[i] - mean[c]),
              2.0 * share * d[0].bound[c] * size);
    }
    if (d[1].is_defined) {
      out.add(i, share * d[1].value[c], share * d[1].bound[c]);
    }
  }
}

void pull_back_elementwise(const Call& call, const ValuePair& in,
                           const Values& y, const Cotangent& d,
                           CotangentPair& out) {
  for (std::size_t i = 0; i < count_of(call.out[0]); ++i) {
    if (call.facts().inputs == 1) {
      const Slope slope = slope_of_one(call.op, in[0][i], y[i]);
      out[0].add(i, d.value[i] * slope.value, d.bound[i] * slope.bound);
      continue;
    }
    const std::size_t ia = count_of(call.in[0]) == 1 ? 0 : i;
    const std::size_t ib = count_of(call.in[1]) == 1 ? 0 : i;
    for (int k = 0; k < 2; ++k) {
      const Slope slope = slope_of_two(call.op, k, in[0][ia], in[1][ib]);
      out[static_cast<std::size_t>(k)].add(
          k == 0 ? ia : ib, d.value[i] * slope.value, d.bound[i] * slope.bound);
    }
  }
}

}  // namespace

const OpFacts& facts_of(OpKind op) noexcept {
  return kFacts[static_cast<std::size_t>(op)];
}

void Cotangent::add(const Cotangent& other) noexcept {
  for (std::size_t i = 0; i < kMaxElements; ++i) {
    add(i, other.value[i], other.bound[i]);
  }
  is_defined = is_defined || other.is_defined;
}

ValuePair forward(const Call& call, const ValuePair& in) noexcept {
  ValuePair y{};
  switch (call.op) {
    case OpKind::kVarMean:
      return var_mean_of(call, in[0]);
    case OpKind::kMatmul:
      y[0] = product_of(call, in[0], in[1]);
      return y;
    case OpKind::kSum:
      y[0] = sum_of(call, in[0]);
      return y;
    default:
      break;
  }
  for (std::size_t i = 0; i < count_of(call.out[0]); ++i) {
    if (call.op == OpKind::kSlice) {
      y[0][i] = in[0][slice_source(call, i)];
    } else if (call.facts().inputs == 2) {
      y[0][i] = of_two(call.op, in[0][count_of(call.in[0]) == 1 ? 0 : i],
                       in[1][count_of(call.in[1]) == 1 ? 0 : i]);
    } else {
      y[0][i] = of_one(call.op, in[0][i]);
    }
  }
  return y;
}

CotangentPair pull_back(const Call& call, const ValuePair& in,
                        const ValuePair& out,
                        const CotangentPair& cotangents) noexcept {
  CotangentPair result;
  result[0].is_defined = true;
  result[1].is_defined = true;
  const Cotangent& d = cotangents[0];
  switch (call.op) {
    case OpKind::kVarMean:
      pull_back_var_mean(call, in[0], out[1], cotangents, result[0]);
      break;
    case OpKind::kMatmul:
      pull_back_product(call, in, d, result);
      break;
    case OpKind::kSum:
      for (std::size_t i = 0; i < count_of(call.in[0]); ++i) {
        const std::size_t from =
            sum_target(call, i / columns(call.in[0]), i % columns(call.in[0]));
        result[0].add(i, d.value[from], d.bound[from]);
      }
      break;
    case OpKind::kSlice:
      for (std::size_t i = 0; i < count_of(call.out[0]); ++i) {
        result[0].add(slice_source(call, i), d.value[i], d.bound[i]);
      }
      break;
    default:
      pull_back_elementwise(call, in, out[0], d, result);
  }
  return result;
}

}  // namespace neap::lifetimes
