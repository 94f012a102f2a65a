// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/composed_cross_entropy.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kSmoothing = 0.2;

// The losses of samples whose targets are shares of the classes, (N, C), by
// plain loops; `weights` (C).
std::vector<double> losses(const HostArray& x, std::vector<double> targets,
                           const std::vector<double>& weights,
                           double smoothing) {
  const auto classes = static_cast<std::size_t>(x.shape[1]);
  std::vector<double> out;
  for (std::size_t n = 0; n < x.values.size(); n += classes) {
    double sum = 0.0;
    for (std::size_t c = 0; c < classes; ++c) {
      sum += std::exp(x.values[n + c]);
    }
    double loss = 0.0;
    for (std::size_t c = 0; c < classes; ++c) {
      const double target = (1 - smoothing) * targets[n + c] +
                            smoothing / static_cast<double>(classes);
      loss -= weights[c] * target * (x.values[n + c] - std::log(sum));
    }
    out.push_back(loss);
  }
  return out;
}

double total(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  return sum;
}

// Inputs x (N, C), labels (N), weights (C): the losses, then the weight of all.
std::vector<double> of_labels(std::span<const HostArray> x, double smoothing) {
  const auto classes = static_cast<std::size_t>(x[0].shape[1]);
  std::vector<double> targets(x[0].values.size());
  double weight = 0.0;
  for (std::size_t n = 0; n < x[1].values.size(); ++n) {
    if (x[1].values[n] >= 0) {
      const auto label = static_cast<std::size_t>(x[1].values[n]);
      targets[n * classes + label] = 1.0;
      weight += x[2].values[label];
    }
  }
  std::vector<double> out = losses(x[0], targets, x[2].values, smoothing);
  for (std::size_t n = 0; n < x[1].values.size(); ++n) {
    out[n] = x[1].values[n] < 0 ? 0.0 : out[n];
  }
  out.push_back(weight);
  return out;
}

Reference mean_of_labels(double smoothing) {
  return [=](std::span<const HostArray> x) -> std::vector<double> {
    std::vector<double> all = of_labels(x, smoothing);
    const double weight = all.back();
    all.pop_back();
    return {weight == 0.0 ? 0.0 : total(all) / weight};
  };
}

Tensor weighted(Inputs x, double smoothing, Reduction reduction) {
  return cross_entropy(x[0], x[1],
                       {.reduction = reduction,
                        .label_smoothing = smoothing,
                        .weight = x[2].detach()});
}

OpTable weights_table() {
  const std::vector<InputSpec> inputs{uniform({4, 3}, -2, 2),
                                      literal({4}, {2, -100, 0, 2}).as(i64),
                                      positive({3}).constant()};
  OpTable table{.name = "cross_entropy, weights of classes"};
  table.rows = {
      {.name = "mean, one ignored",
       .fn = [](Inputs x) { return weighted(x, 0, Reduction::kMean); },
       .inputs = inputs,
       .reference = mean_of_labels(0),
       .shape = Shape{},
       .zero_size = {{{0, 3}, {0}, {3}}}},
      {.name = "smoothed mean, one ignored",
       .fn = [](Inputs x) { return weighted(x, kSmoothing, Reduction::kMean); },
       .inputs = inputs,
       .reference = mean_of_labels(kSmoothing)},
      {.name = "each",
       .fn = [](Inputs x) { return weighted(x, kSmoothing, Reduction::kNone); },
       .inputs = inputs,
       .reference =
           [](auto x) {
             std::vector<double> all = of_labels(x, kSmoothing);
             all.pop_back();
             return all;
           },
       .shape = Shape{4}},
      {.name = "none counts",
       .fn = [](Inputs x) { return weighted(x, 0, Reduction::kMean); },
       .inputs = {uniform({2, 3}, -2, 2), literal({2}, {-100, -100}).as(i64),
                  positive({3}).constant()},
       .expected = {0},
       .expected_vjp = {{0, 0, 0, 0, 0, 0}}},
      {.name = "smoothed, labels without a weight",
       .fn = [](Inputs x) { return weighted(x, kSmoothing, Reduction::kMean); },
       .inputs = {uniform({2, 3}, -2, 2), literal({2}, {0, 0}).as(i64),
                  literal({3}, {0, 1, 2}).constant()},
       .expected = {0},
       .expected_vjp = {{0, 0, 0, 0, 0, 0}}}};
  table.errors = {
      {.name = "a weight of another shape",
       .fn = [](Inputs x) { return weighted(x, 0, Reduction::kMean); },
       .inputs = {uniform({2, 3}, -2, 2), literal({2}, {0, 1}).as(i64),
                  positive({2})},
       .error = typeid(ShapeError),
       .says = "weight [2], expected [3]"},
      {.name = "a label",
       .fn = [](Inputs x) { return weighted(x, 0, Reduction::kMean); },
       .inputs = {uniform({2, 3}, -2, 2), literal({2}, {0, 3}).as(i64),
                  positive({3})},
       .error = typeid(ValueError),
       .says = "cross_entropy: label 3 of sample 1"}};
  return table;
}

// Inputs x (N, C), probabilities (N, C), weights (C).
Reference mean_of_probabilities(double smoothing) {
  return [=](std::span<const HostArray> x) -> std::vector<double> {
    const std::vector<double> all =
        losses(x[0], x[1].values, x[2].values, smoothing);
    return {all.empty() ? 0.0 : total(all) / static_cast<double>(all.size())};
  };
}

OpTable probabilities_table() {
  OpTable table{.name = "cross_entropy, probabilities"};
  const auto plain = [](Inputs x) { return cross_entropy(x[0], x[1]); };
  table.rows = {
      {.name = "mean",
       .fn = plain,
       .inputs = {uniform({4, 3}, -2, 2), positive({4, 3})},
       .reference = [](std::span<const HostArray> x) -> std::vector<double> {
         const std::vector<double> all =
             losses(x[0], x[1].values, {1, 1, 1}, 0.0);
         return {all.empty() ? 0.0
                             : total(all) / static_cast<double>(all.size())};
       },
       .shape = Shape{},
       .zero_size = {{{0, 3}, {0, 3}}}},
      {.name = "smoothed mean, weights",
       .fn = [](Inputs x) { return weighted(x, kSmoothing, Reduction::kMean); },
       .inputs = {uniform({5, 7}, -2, 2), positive({5, 7}),
                  positive({7}).constant()},
       .reference = mean_of_probabilities(kSmoothing)},
      {.name = "each, at places",
       .fn =
           [](Inputs x) {
             return cross_entropy(x[0], x[1], {.reduction = Reduction::kNone});
           },
       .inputs = {literal({1, 2, 2}, {0, 1, 0, 1}),
                  literal({1, 2, 2}, {1, 0.25, 0, 0.75})},
       .expected = {std::log(2.0), std::log(2.0)},
       .shape = Shape{1, 2}}};
  table.errors = {
      {.name = "shapes",
       .fn = plain,
       .inputs = {uniform({2, 3}, -2, 2), positive({2, 2})},
       .error = typeid(ShapeError),
       .says = "cross_entropy:"},
      {.name = "shapes of images",
       .fn = plain,
       .inputs = {uniform({2, 3, 4}, -2, 2), positive({2, 4})},
       .error = typeid(ShapeError),
       .says = "cross_entropy:"},
      {.name = "dtypes",
       .fn = plain,
       .inputs = {uniform({2, 3}, -2, 2).as(f32), positive({2, 3}).as(f64)},
       .error = typeid(DTypeError),
       .says = "cross_entropy: the probabilities"}};
  return table;
}

const Listed kWeightsListed(weights_table);
const Listed kProbabilitiesListed(probabilities_table);

}  // namespace
}  // namespace neap::testing
