// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/log_softmax.hpp"

#include <cmath>

#include "neap/ops/norm/softmax_test.hpp"

namespace neap::testing {
namespace {

// Along the last axis.
std::vector<double> logs(std::span<const HostArray> x) {
  std::vector<double> y = x[0].values;
  const std::int64_t n = x[0].shape.back();
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

OpTable table() {
  return softmax_table(
      {.name = "log_softmax",
       .op = &ops::kLogSoftmax,
       .along_last = [](Inputs x) { return log_softmax(x[0]); },
       .along = log_softmax,
       .reference = logs,
       .of_columns = {-std::log(2.0), -1000, -std::log(2.0), 0}});
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
