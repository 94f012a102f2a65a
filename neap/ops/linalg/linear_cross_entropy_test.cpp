// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear_cross_entropy.hpp"

#include "neap/ops/linalg/linear_cross_entropy_test.hpp"

namespace neap::testing {
namespace {

// Operands: x, w, labels and perhaps a bias.
Tensor loss_of(Inputs x, const CrossEntropyOptions& options) {
  return linear_cross_entropy(x[0], x[1], x.size() > 3 ? x[3] : Tensor(), x[2],
                              options);
}

Tensor loss(Inputs x) {
  return loss_of(x, {});
}

OpRow row(const char* name, const CrossEntropyOptions& options,
          std::vector<InputSpec> inputs) {
  return {.name = name,
          .fn = [=](Inputs x) { return loss_of(x, options); },
          .inputs = std::move(inputs),
          .reference =
              [=](std::span<const HostArray> x) {
                return PlainLinearCrossEntropy(x[0], x[1], x[2],
                                               x.size() > 3 ? &x[3] : nullptr,
                                               options)
                    .losses();
              }};
}

// Operands: x, w, labels, weights of classes and perhaps a bias.
OpRow weighted_row(const char* name, const CrossEntropyOptions& options,
                   std::vector<InputSpec> inputs) {
  return {.name = name,
          .fn =
              [=](Inputs x) {
                CrossEntropyOptions all = options;
                all.weight = x[3].detach();
                return linear_cross_entropy(
                    x[0], x[1], x.size() > 4 ? x[4] : Tensor(), x[2], all);
              },
          .inputs = std::move(inputs),
          .reference =
              [=](std::span<const HostArray> x) {
                return PlainLinearCrossEntropy(x[0], x[1], x[2],
                                               x.size() > 4 ? &x[4] : nullptr,
                                               options, &x[3])
                    .losses();
              }};
}

std::vector<OpRow> weighted_rows() {
  const InputSpec x = uniform({4, 3}, -1, 1);
  const InputSpec w = uniform({5, 3}, -1, 1);
  const InputSpec bias = uniform({5}, -1, 1);
  const InputSpec weights = positive({5}).constant();
  const InputSpec some = literal({4}, {2, -100, 0, 4}).as(i64);
  OpRow mean = weighted_row("weighted, smoothed mean", {.label_smoothing = 0.2},
                            {x, w, some, weights, bias});
  mean.shape = Shape{};
  OpRow leading = weighted_row(
      "weighted, smoothed, leading axes, each",
      {.reduction = Reduction::kNone, .label_smoothing = 0.2},
      {uniform({2, 3, 3}, -1, 1), w,
       literal({2, 3}, {1, -100, 0, 4, 2, 2}).as(i64), weights, bias});
  leading.shape = Shape{2, 3};
  OpRow all =
      weighted_row("weighted, smoothed, all count", {.label_smoothing = 0.1},
                   {x, w, integers({4}, 0, 5).as(i64), weights, bias});
  all.zero_size = {{{0, 3}, {5, 3}, {0}, {5}, {5}},
                   {{4, 0}, {5, 0}, {4}, {5}, {5}}};
  return {mean, leading, all,
          weighted_row("weighted, smoothed sum",
                       {.reduction = Reduction::kSum, .label_smoothing = 1.0},
                       {x, w, some, weights}),
          weighted_row("weighted", {}, {x, w, some, weights})};
}

std::vector<OpRow> rows() {
  const InputSpec x = uniform({4, 3}, -1, 1);
  const InputSpec w = uniform({5, 3}, -1, 1);
  const InputSpec bias = uniform({5}, -1, 1);
  const InputSpec all = integers({4}, 0, 5).as(i64);
  const InputSpec some = literal({4}, {2, -100, 0, 4}).as(i64);
  OpRow plain = row("plain", {}, {x, w, all});
  plain.shape = Shape{};
  plain.zero_size = {{{0, 3}, {5, 3}, {0}}, {{4, 0}, {5, 0}, {4}}};
  OpRow large = row("large", {},
                    {uniform({130, 17}, -1, 1), uniform({203, 17}, -1, 1),
                     integers({130}, 0, 203).as(i64)});
  large.second_derivative = false;
  OpRow leading =
      row("leading axes, each", {.reduction = Reduction::kNone},
          {uniform({2, 3, 3}, -1, 1), w, integers({2, 3}, 0, 5).as(i64), bias});
  leading.shape = Shape{2, 3};
  OpRow ignored =
      row("all ignored", {}, {x, w, literal({4}, {-100, -100, -100, -100})});
  ignored.inputs[2] = ignored.inputs[2].as(i64);
  return {plain,
          row("bias", {}, {x, w, some, bias}),
          row("smoothed mean, one ignored", {.label_smoothing = 0.2},
              {x, w, some, bias}),
          row("sum", {.reduction = Reduction::kSum}, {x, w, some}),
          row("each, smoothed",
              {.reduction = Reduction::kNone, .label_smoothing = 0.2},
              {x, w, some, bias}),
          leading,
          large,
          ignored};
}

// The last input is the weights of classes.
Tensor weighted(Inputs in) {
  return loss_of(in.first(3), {.label_smoothing = 0.1, .weight = in[3]});
}

std::vector<ErrorRow> errors() {
  const InputSpec x = uniform({2, 3}, 0, 1);
  const InputSpec w = uniform({5, 3}, 0, 1);
  const InputSpec labels = literal({2}, {0, 4}).as(i64);
  const auto with = [](const CrossEntropyOptions& options) {
    return [=](Inputs in) { return loss_of(in, options); };
  };
  return {{.name = "label",
           .fn = loss,
           .inputs = {x, w, literal({2}, {0, 5}).as(i64)},
           .error = typeid(ValueError)},
          {.name = "negative label",
           .fn = loss,
           .inputs = {x, w, literal({2}, {0, -1}).as(i64)},
           .error = typeid(ValueError)},
          {.name = "smoothing",
           .fn = with({.label_smoothing = 1.5}),
           .inputs = {x, w, labels},
           .error = typeid(ValueError)},
          {.name = "weights of other classes",
           .fn = weighted,
           .inputs = {x, w, labels, uniform({4}, 0, 1)},
           .error = typeid(ShapeError),
           .says = "5 classes and a weight [4]"},
          {.name = "probabilities",
           .fn = loss,
           .inputs = {x, w, uniform({2, 5}, 0, 1)},
           .error = typeid(DTypeError),
           .says = "use cross_entropy(linear(x, w, bias), labels"},
          {.name = "labels' dtype",
           .fn = loss,
           .inputs = {x, w, literal({2}, {0, 1}).as(i32)},
           .error = typeid(DTypeError)},
          {.name = "counts",
           .fn = loss,
           .inputs = {x, w, integers({3}, 0, 3).as(i64)},
           .error = typeid(ShapeError)},
          {.name = "inner extents",
           .fn = loss,
           .inputs = {x, uniform({5, 4}, 0, 1), labels},
           .error = typeid(ShapeError)},
          {.name = "bias",
           .fn = loss,
           .inputs = {x, w, labels, uniform({3}, 0, 1)},
           .error = typeid(ShapeError)},
          {.name = "a vector",
           .fn = loss,
           .inputs = {uniform({3}, 0, 1), w, literal({}, {1}).as(i64)},
           .error = typeid(ShapeError)},
          {.name = "dtypes",
           .fn = loss,
           .inputs = {x, uniform({5, 3}, 0, 1).as(f64), labels},
           .error = typeid(DTypeError)}};
}

OpTable weights_table() {
  return {.name = "linear_cross_entropy, weights of classes",
          .rows = weighted_rows()};
}

OpTable table() {
  return {.name = "linear_cross_entropy",
          .op = &ops::kLinearCrossEntropy,
          .rows = rows(),
          .errors = errors()};
}

const Listed kListed(table);
const Listed kWeightsListed(weights_table);

}  // namespace
}  // namespace neap::testing
