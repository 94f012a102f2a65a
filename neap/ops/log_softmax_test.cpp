// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log_softmax.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Along the last axis.
std::vector<double> of_rows(const HostArray& x) {
  std::vector<double> y = x.values;
  const std::int64_t n = x.shape.back();
  for (auto row = y.begin(); row < y.end(); row += n) {
    double sum = 0.0;
    for (auto at = row; at < row + n; ++at) {
      sum += std::exp(*at);
    }
    for (auto at = row; at < row + n; ++at) {
      *at -= std::log(sum);
    }
  }
  return y;
}

std::vector<double> logs(std::span<const HostArray> x) {
  return of_rows(x[0]);
}

const std::vector<double> kColumns{-std::log(2.0), -1000, -std::log(2.0), 0};

OpTable log_softmax_table() {
  OpTable table{.name = "log_softmax", .op = &ops::kLogSoftmax};
  table.rows = {{.name = "last axis",
                 .fn = [](Inputs x) { return log_softmax(x[0]); },
                 .inputs = {uniform({2, 3, 5}, -2, 2)},
                 .reference = logs,
                 .zero_size = {{{0, 5}}, {{3, 0}}}},
                {.name = "first axis, far apart",
                 .fn = [](Inputs x) { return log_softmax(x[0], 0); },
                 .inputs = {literal({2, 2}, {3000, -500, 3000, 500})},
                 .expected = kColumns,
                 .smooth = false},
                {.name = "large",
                 .fn = [](Inputs x) { return log_softmax(x[0], 1); },
                 .inputs = {uniform({301, 97}, -2, 2)},
                 .reference = logs,
                 .second_derivative = false}};
  table.errors = {{.name = "axis",
                   .fn = [](Inputs x) { return log_softmax(x[0], 2); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = [](Inputs x) { return log_softmax(x[0]); },
                   .inputs = {integers({2, 3}, 0, 5).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(log_softmax_table);

}  // namespace
}  // namespace neap::testing
