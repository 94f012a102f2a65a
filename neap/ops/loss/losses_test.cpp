// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/losses.hpp"

#include <cmath>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

std::vector<double> mean_square(std::span<const HostArray> x) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x[0].values.size(); ++i) {
    const double d = x[0].values[i] - x[1].values[i];
    sum += d * d;
  }
  return {sum / static_cast<double>(x[0].values.size())};
}

std::vector<double> mean_nll(std::span<const HostArray> x) {
  const auto classes = static_cast<std::size_t>(x[0].shape[1]);
  double sum = 0.0;
  for (std::size_t n = 0; n < x[1].values.size(); ++n) {
    sum -= x[0].values[n * classes + static_cast<std::size_t>(x[1].values[n])];
  }
  return {sum / static_cast<double>(x[1].values.size())};
}

OpTable mse_loss_table() {
  return {.name = "mse_loss",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return mse_loss(x[0], x[1]); },
                    .inputs = {uniform({3, 5}, -1, 1), uniform({3, 5}, -1, 1)},
                    .reference = mean_square,
                    .shape = Shape{}}},
          .errors = {{.name = "shapes",
                      .fn = [](Inputs x) { return mse_loss(x[0], x[1]); },
                      .inputs = {uniform({3}, 0, 1), uniform({4}, 0, 1)},
                      .error = typeid(ShapeError),
                      .says = "do not broadcast"}},
          .no_zero_size = "the mean of nothing is NaN"};
}

const Listed kMseListed(mse_loss_table);

OpTable nll_loss_table() {
  return {
      .name = "nll_loss",
      .rows = {{.name = "plain",
                .fn = [](Inputs x) { return nll_loss(x[0], x[1]); },
                .inputs = {uniform({4, 5}, -2, 0), integers({4}, 0, 5).as(i64)},
                .reference = mean_nll,
                .shape = Shape{}}},
      .errors = {{.name = "label",
                  .fn = [](Inputs x) { return nll_loss(x[0], x[1]); },
                  .inputs = {uniform({2, 3}, 0, 1),
                             literal({2}, {0, 3}).as(i64)},
                  .error = typeid(ValueError),
                  .says = "label 3"}},
      .no_zero_size = "the mean of nothing is no number"};
}

const Listed kNllListed(nll_loss_table);

// A loss of the difference of two tensors: `rule` of it, element by element.
template <double (*kRule)(double)>
std::vector<double> of_difference(std::span<const HostArray> x) {
  return each_pair([](double a, double b) { return kRule(a - b); })(x);
}

double absolute(double d) {
  return std::abs(d);
}

constexpr double kDelta = 0.5;

double huber(double d) {
  return std::abs(d) <= kDelta ? 0.5 * d * d
                               : kDelta * (std::abs(d) - 0.5 * kDelta);
}

double smooth(double d) {
  return huber(d) / kDelta;
}

// Differences keep away from 0 and from both ends of the quadratic part.
std::vector<InputSpec> apart() {
  return {literal({2, 3}, {1, 2, 3, -1, 0.3, 2}),
          literal({2, 3}, {0.75, 1, 1, 1, 0.1, 2.8})};
}

OpTable difference_table(const char* name, const OpFunction& fn,
                         const Reference& reference) {
  return {.name = name,
          .rows = {{.name = "each",
                    .fn = fn,
                    .inputs = apart(),
                    .reference = reference,
                    .zero_size = {{{0, 4}, {0, 4}}}}},
          .errors = {{.name = "shapes",
                      .fn = fn,
                      .inputs = {uniform({3}, 0, 1), uniform({4}, 0, 1)},
                      .error = typeid(ShapeError),
                      .says = "do not broadcast"}}};
}

OpTable l1_loss_table() {
  const OpFunction fn = [](Inputs x) {
    return l1_loss(x[0], x[1], Reduction::kNone);
  };
  OpTable table = difference_table("l1_loss", fn, of_difference<absolute>);
  table.rows.push_back(
      kink_row(fn, {literal({2}, {1, 2}), literal({2}, {1, 4}).constant()},
               {0, 2}, {{0, -1}}, {0, -1}));
  return table;
}

const Listed kL1Listed(l1_loss_table);

OpTable huber_loss_table() {
  const OpFunction fn = [](Inputs x) {
    return huber_loss(x[0], x[1], Reduction::kNone, kDelta);
  };
  OpTable table = difference_table("huber_loss", fn, of_difference<huber>);
  table.rows.push_back(
      kink_row(fn, {literal({3}, {0.5, -0.5, 0}), literal({3}, {0, 0, 0})},
               {0.125, 0.125, 0}, {{0.5, -0.5, 0}, {-0.5, 0.5, 0}}, {0, 0, 0}));
  table.errors.push_back({.name = "delta",
                          .fn =
                              [](Inputs x) {
                                return huber_loss(x[0], x[1], Reduction::kMean,
                                                  0.0);
                              },
                          .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1)},
                          .error = typeid(ValueError)});
  return table;
}

const Listed kHuberListed(huber_loss_table);

OpTable smooth_l1_loss_table() {
  OpTable table = difference_table(
      "smooth_l1_loss",
      [](Inputs x) {
        return smooth_l1_loss(x[0], x[1], Reduction::kNone, kDelta);
      },
      of_difference<smooth>);
  OpRow zero = table.rows[0];
  zero.name = "beta of 0";
  zero.fn = [](Inputs x) {
    return smooth_l1_loss(x[0], x[1], Reduction::kNone, 0.0);
  };
  zero.reference = of_difference<absolute>;
  table.rows.push_back(zero);
  table.errors.push_back({.name = "beta",
                          .fn =
                              [](Inputs x) {
                                return smooth_l1_loss(x[0], x[1],
                                                      Reduction::kMean, -1.0);
                              },
                          .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1)},
                          .error = typeid(ValueError)});
  return table;
}

const Listed kSmoothListed(smooth_l1_loss_table);

OpTable kl_div_table() {
  const OpFunction fn = [](Inputs x) {
    return kl_div(x[0], x[1], Reduction::kNone);
  };
  OpTable table{.name = "kl_div"};
  table.rows = {
      {.name = "probabilities",
       .fn = fn,
       .inputs = {uniform({3, 5}, -3, -0.1), uniform({3, 5}, 0.1, 0.9)},
       .reference =
           each_pair([](double x, double t) { return t * (std::log(t) - x); }),
       .zero_size = {{{0, 4}, {0, 4}}}},
      {.name = "log-probabilities",
       .fn =
           [](Inputs x) { return kl_div(x[0], x[1], Reduction::kNone, true); },
       .inputs = {uniform({3, 5}, -3, -0.1), uniform({3, 5}, -3, -0.1)},
       .reference =
           each_pair([](double x, double t) { return std::exp(t) * (t - x); })},
      kink_row(fn, {literal({2}, {-1, -2}), literal({2}, {0, 1})}, {0, 2},
               {{0, -1}, {0, 3}}, {0, 2})};
  table.errors = {{.name = "shapes",
                   .fn = fn,
                   .inputs = {uniform({3}, 0, 1), uniform({4}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "do not broadcast"}};
  return table;
}

const Listed kKlListed(kl_div_table);

}  // namespace
}  // namespace neap::testing
