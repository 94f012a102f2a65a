// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/losses.hpp"

#include "neap/testing/op_table.hpp"

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

}  // namespace
}  // namespace neap::testing
