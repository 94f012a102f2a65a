// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/activation_grads.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kPi = 3.14159265358979323846;

double logistic(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

InputSpec with_kink() {
  InputSpec spec = uniform({}, -3, 3);
  spec.avoided = {1.5};
  return spec;
}

struct SlopeOp {
  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const Operand& g, const Operand& v) = nullptr;
  double (*reference)(double g, double v) = nullptr;
  InputSpec domain{};  // of v; its shape is not used
};

OpTable slope_table(const SlopeOp& op) {
  const OpFunction fn = [f = op.fn](Inputs x) { return f(x[0], x[1]); };
  const auto row = [&](const char* name, const Shape& shape) {
    InputSpec v = op.domain;
    v.shape = shape;
    return OpRow{.name = name,
                 .fn = fn,
                 .inputs = {uniform(shape, -2, 2), v},
                 .reference = each_pair(op.reference)};
  };
  OpTable table{.name = op.name, .op = op.op};
  table.rows = {row("matrix", {3, 5}), row("rank 0", {}),
                row("large", {131, 263})};
  table.rows[0].zero_size = {{{0, 4}, {0, 4}}};
  table.rows[2].second_derivative = false;
  table.errors = {{.name = "shapes",
                   .fn = fn,
                   .inputs = {uniform({3}, 0, 1), uniform({3, 1}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "dtypes",
                   .fn = fn,
                   .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1).as(f64)},
                   .error = typeid(DTypeError)}};
  return table;
}

// NOLINTNEXTLINE(readability-function-size): a table of rows
const std::vector<SlopeOp>& slopes() {
  static const std::vector<SlopeOp> all = {
      {.name = "sigmoid_grad",
       .op = &ops::kSigmoidGrad,
       .fn = ops::sigmoid_grad,
       .reference = [](double g, double y) { return g * y * (1.0 - y); },
       .domain = uniform({}, 0, 1)},
      {.name = "tanh_grad",
       .op = &ops::kTanhGrad,
       .fn = ops::tanh_grad,
       .reference = [](double g, double y) { return g * (1.0 - y * y); },
       .domain = uniform({}, -1, 1)},
      {.name = "log_sigmoid_grad",
       .op = &ops::kLogSigmoidGrad,
       .fn = ops::log_sigmoid_grad,
       .reference = [](double g, double v) { return g * (1.0 - std::exp(v)); },
       .domain = uniform({}, -3, -0.1)},
      {.name = "silu_grad",
       .op = &ops::kSiluGrad,
       .fn = ops::silu_grad,
       .reference =
           [](double g, double v) {
             const double s = logistic(v);
             return g * s * (1.0 + v * (1.0 - s));
           },
       .domain = uniform({}, -3, 3)},
      {.name = "mish_grad",
       .op = &ops::kMishGrad,
       .fn = ops::mish_grad,
       .reference =
           [](double g, double v) {
             const double w = std::tanh(std::log1p(std::exp(v)));
             return g * (w + v * (1.0 - w * w) * logistic(v));
           },
       .domain = uniform({}, -3, 3)},
      {.name = "gelu_grad",
       .op = &ops::kGeluGrad,
       .fn = ops::gelu_grad,
       .reference =
           [](double g, double v) {
             return g * (0.5 * std::erfc(-v / std::sqrt(2.0)) +
                         v * std::exp(-v * v / 2.0) / std::sqrt(2.0 * kPi));
           },
       .domain = uniform({}, -3, 3)},
      {.name = "gelu_tanh_grad",
       .op = &ops::kGeluTanhGrad,
       .fn = ops::gelu_tanh_grad,
       .reference =
           [](double g, double v) {
             const double k = std::sqrt(2.0 / kPi);
             const double t = std::tanh(k * (v + 0.044715 * v * v * v));
             return g * (0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * k *
                                               (1.0 + 3 * 0.044715 * v * v));
           },
       .domain = uniform({}, -3, 3)},
      {.name = "elu_grad",
       .op = &ops::kEluGrad,
       .fn = [](const Operand& g,
                const Operand& v) { return ops::elu_grad(g, v, {0.75}); },
       .reference = [](double g,
                       double v) { return v > 0.0 ? g : g * (v + 0.75); },
       .domain = away_from({}, {0.0})},
      {.name = "softplus_grad",
       .op = &ops::kSoftplusGrad,
       .fn =
           [](const Operand& g, const Operand& v) {
             return ops::softplus_grad(g, v, {2.0, 3.0});
           },
       .reference =
           [](double g, double v) {
             return 2.0 * v > 3.0 ? g : g * logistic(2.0 * v);
           },
       .domain = with_kink()}};
  return all;
}

std::vector<OpTable> slope_tables() {
  std::vector<OpTable> tables;
  for (const SlopeOp& op : slopes()) {
    tables.push_back(slope_table(op));
  }
  return tables;
}

const Listed kListed(slope_tables);

}  // namespace
}  // namespace neap::testing
