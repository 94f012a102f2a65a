// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/binary_cross_entropy.hpp"

#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double of_probability(double x, double t) {
  return -(t * std::log(x) + (1.0 - t) * std::log1p(-x));
}

double of_logit(double z, double t) {
  return std::log1p(std::exp(-z)) + (1.0 - t) * z;
}

template <double (*kLoss)(double, double)>
std::vector<double> mean_of(std::span<const HostArray> x) {
  const std::vector<double> each = each_pair(kLoss)(x);
  double total = 0.0;
  for (const double loss : each) {
    total += loss;
  }
  return {total / static_cast<double>(each.size())};
}

// Rows of a loss of x in a range and targets in (0, 1).
std::vector<OpRow> rows_of(Tensor (*loss)(const Tensor&, const Tensor&,
                                          Reduction),
                           double (*reference)(double, double), Reference mean,
                           double low, double high) {
  const auto fn = [loss](Reduction reduction) {
    return [=](Inputs x) { return loss(x[0], x[1], reduction); };
  };
  const std::vector<InputSpec> inputs{uniform({3, 5}, low, high),
                                      uniform({3, 5}, 0.1, 0.9)};
  std::vector<OpRow> rows{{.name = "each",
                           .fn = fn(Reduction::kNone),
                           .inputs = inputs,
                           .reference = each_pair(reference),
                           .zero_size = {{{0, 4}, {0, 4}}}},
                          {.name = "mean",
                           .fn = fn(Reduction::kMean),
                           .inputs = inputs,
                           .reference = std::move(mean),
                           .shape = Shape{}},
                          {.name = "large",
                           .fn = fn(Reduction::kNone),
                           .inputs = {uniform({131, 263}, low, high),
                                      uniform({131, 263}, 0.1, 0.9)},
                           .reference = each_pair(reference)}};
  rows[2].second_derivative = false;
  return rows;
}

std::vector<ErrorRow> errors_of(OpFunction fn, const char* says) {
  return {{.name = "shapes",
           .fn = fn,
           .inputs = {uniform({3}, 0, 1), uniform({3, 1}, 0, 1)},
           .error = typeid(ShapeError),
           .says = says},
          {.name = "dtypes",
           .fn = fn,
           .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1).as(f64)},
           .error = typeid(DTypeError),
           .says = says}};
}

OpTable probability_table() {
  OpTable table{.name = "binary_cross_entropy",
                .op = &ops::kBinaryCrossEntropy};
  table.rows = rows_of(
      [](const Tensor& x, const Tensor& t, Reduction reduction) {
        return binary_cross_entropy(x, t, reduction);
      },
      of_probability, mean_of<of_probability>, 0.1, 0.9);
  const OpFunction each = table.rows[0].fn;
  table.rows.push_back(value_row(
      "edges", each,
      {literal({6}, {0, 0, 1, 1, 0.5, 1.5}), literal({6}, {0, 1, 0, 1, 1, 1})},
      {0, 100, 100, 0, std::log(2.0), kNaN}));
  // Certain and wrong: divided by no less than 1e-12.
  OpRow certain =
      kink_row(each, {literal({2}, {0, 1}), literal({2}, {1, 1}).constant()},
               {100, 0}, {{-1e12, 0}}, {-1e12, 0});
  certain.dtypes = {f64};
  table.rows.push_back(certain);
  table.errors = errors_of(each, "binary_cross_entropy:");
  return table;
}

const Listed kProbabilityListed(probability_table);

OpTable logits_table() {
  OpTable table{.name = "logits_cross_entropy",
                .op = &ops::kLogitsCrossEntropy};
  table.rows = rows_of(
      [](const Tensor& x, const Tensor& t, Reduction reduction) {
        return binary_cross_entropy_with_logits(x, t, reduction);
      },
      of_logit, mean_of<of_logit>, -3, 3);
  const OpFunction each = table.rows[0].fn;
  table.rows.push_back(value_row(
      "edges", each,
      {literal({4}, {-1000, 1000, 1000, kNaN}), literal({4}, {0, 1, 0, 1})},
      {0, 0, 1000, kNaN}));
  table.errors = errors_of(each, "binary_cross_entropy_with_logits:");
  return table;
}

const Listed kLogitsListed(logits_table);

OpTable weighted_table() {
  const auto fn = [](Inputs x) {
    return binary_cross_entropy_with_logits(x[0], x[1], Reduction::kNone, x[2]);
  };
  const auto reference = [](std::span<const HostArray> x) {
    std::vector<double> out;
    for (std::size_t i = 0; i < x[0].values.size(); ++i) {
      const double t = x[1].values[i];
      const double weight = x[2].values[i % x[2].values.size()];
      const double z = x[0].values[i];
      out.push_back(weight * t * of_logit(z, 1) + (1.0 - t) * of_logit(z, 0));
    }
    return out;
  };
  return {.name = "binary_cross_entropy_with_logits",
          .rows = {{.name = "weighted",
                    .fn = fn,
                    .inputs = {uniform({3, 5}, -3, 3),
                               uniform({3, 5}, 0.1, 0.9), positive({5})},
                    .reference = reference}},
          .errors = {{.name = "shapes",
                      .fn = fn,
                      .inputs = {uniform({3}, 0, 1), uniform({3, 1}, 0, 1),
                                 positive({3})},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "see logits_cross_entropy"};
}

const Listed kWeightedListed(weighted_table);

}  // namespace
}  // namespace neap::testing
