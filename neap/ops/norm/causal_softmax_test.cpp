// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/causal_softmax.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

Reference weights(double scale, std::int64_t diagonal) {
  return [=](std::span<const HostArray> x) {
    std::vector<double> y(x[0].values.size(), 0.0);
    const std::int64_t rows = x[0].shape.back(2);
    const std::int64_t columns = x[0].shape.back(1);
    const auto count = static_cast<std::int64_t>(y.size());
    for (std::int64_t at = 0; at < count; at += columns) {
      const std::int64_t seen = std::clamp<std::int64_t>(
          at / columns % rows + diagonal + 1, 0, columns);
      double sum = 0.0;
      for (std::int64_t j = at; j < at + seen; ++j) {
        const auto i = static_cast<std::size_t>(j);
        sum += y[i] = std::exp(scale * x[0].values[i]);
      }
      for (std::int64_t j = at; j < at + seen; ++j) {
        y[static_cast<std::size_t>(j)] /= sum;
      }
    }
    return y;
  };
}

OpRow row(const char* name, const Shape& shape, double scale,
          std::int64_t diagonal) {
  return {.name = name,
          .fn = [=](Inputs x) { return causal_softmax(x[0], scale, diagonal); },
          .inputs = {uniform(shape, -2, 2)},
          .reference = weights(scale, diagonal)};
}

OpTable table() {
  OpTable table{.name = "causal_softmax", .op = &ops::kCausalSoftmax};
  table.rows = {row("square", {2, 3, 4, 4}, 1.0, 0),
                row("scaled", {2, 5, 5}, 0.3, 0),
                row("after a past", {2, 3, 5}, 0.7, 2),
                row("rows that see nothing", {5, 3}, 1.5, -2),
                row("all is seen", {3, 4}, 1.0, std::int64_t{1} << 62),
                row("long rows", {2, 1100}, 0.5, 1050),
                row("large", {3, 90, 90}, 0.2, 0)};
  table.rows[0].zero_size = {{{0, 4, 4}}, {{2, 0, 3}}, {{2, 3, 0}}};
  table.rows[5].second_derivative = false;
  table.rows[6].second_derivative = false;
  // Elements far below the largest give 0, and hidden ones do not matter.
  table.rows.push_back({.name = "far apart",
                        .fn = [](Inputs x) { return causal_softmax(x[0]); },
                        .inputs = {literal({2, 2}, {-3000, 3000, 3000, -3000})},
                        .expected = {1, 0, 1, 0},
                        .smooth = false});
  const auto plain = [](Inputs x) { return causal_softmax(x[0]); };
  const auto upside_down = [](Inputs x) { return causal_softmax(x[0], -1.0); };
  table.errors = {{.name = "rank",
                   .fn = plain,
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "scale",
                   .fn = upside_down,
                   .inputs = {uniform({3, 3}, 0, 1)},
                   .error = typeid(ValueError)},
                  {.name = "integers",
                   .fn = plain,
                   .inputs = {integers({2, 3}, 0, 5).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
