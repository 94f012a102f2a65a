// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/rotary_embedding.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

Reference turned(double base, RotaryPairs pairs, std::int64_t first) {
  return [=](std::span<const HostArray> in) {
    std::vector<double> y = in[0].values;
    const std::int64_t rows = in[0].shape.back(2);
    const std::int64_t width = in[0].shape.back(1);
    const bool is_halves = pairs == RotaryPairs::kHalves;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i) {
      const std::int64_t column = i % width;
      const std::int64_t row = i / width % rows;
      const double position = in.size() > 1
                                  ? in[1].values[static_cast<std::size_t>(row)]
                                  : static_cast<double>(first + row);
      const std::int64_t pair = is_halves ? column % (width / 2) : column / 2;
      const bool is_second = is_halves ? column >= width / 2 : column % 2 == 1;
      const std::int64_t apart = is_halves ? width / 2 : 1;
      const double angle =
          position * std::pow(base, -2.0 * static_cast<double>(pair) /
                                        static_cast<double>(width));
      const auto at = [&](std::int64_t j) {
        return in[0].values[static_cast<std::size_t>(j)];
      };
      y[static_cast<std::size_t>(i)] =
          is_second ? at(i) * std::cos(angle) + at(i - apart) * std::sin(angle)
                    : at(i) * std::cos(angle) - at(i + apart) * std::sin(angle);
    }
    return y;
  };
}

OpRow row(const char* name, const Shape& shape, const RotaryOptions& options) {
  return {.name = name,
          .fn = [=](Inputs x) { return rotary_embedding(x[0], options); },
          .inputs = {uniform(shape, -2, 2)},
          .reference = turned(options.base, options.pairs, options.first)};
}

OpTable table() {
  OpTable table{.name = "rotary_embedding", .op = &ops::kRotaryEmbedding};
  table.rows = {
      row("halves", {2, 3, 4}, {}),
      row("interleaved", {2, 2, 3, 6}, {.pairs = RotaryPairs::kInterleaved}),
      row("after a past", {5, 8}, {.base = 100.0, .first = 1000}),
      row("large", {2, 70, 40}, {})};
  table.rows[0].zero_size = {{{0, 3, 4}}, {{2, 0, 4}}, {{2, 3, 0}}};
  table.rows[3].second_derivative = false;
  table.rows.push_back(
      {.name = "given positions",
       .fn =
           [](Inputs x) { return rotary_embedding(x[0], {.positions = x[1]}); },
       .inputs = {uniform({2, 3, 4}, -2, 2), literal({3}, {5, -1, 7}).as(i64)},
       .reference = turned(10000.0, RotaryPairs::kHalves, 0)});
  const auto plain = [](Inputs x) { return rotary_embedding(x[0]); };
  const auto placed = [](Inputs x) {
    return rotary_embedding(x[0], {.positions = x[1]});
  };
  table.errors = {
      {.name = "rank",
       .fn = plain,
       .inputs = {uniform({4}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "odd width",
       .fn = plain,
       .inputs = {uniform({4, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "positions",
       .fn = placed,
       .inputs = {uniform({4, 2}, 0, 1), integers({3}, 0, 4).as(i64)},
       .error = typeid(ShapeError)},
      {.name = "dtype of positions",
       .fn = placed,
       .inputs = {uniform({4, 2}, 0, 1), uniform({4}, 0, 4)},
       .error = typeid(DTypeError)},
      {.name = "base",
       .fn = [](Inputs x) { return rotary_embedding(x[0], {.base = 0.0}); },
       .inputs = {uniform({4, 2}, 0, 1)},
       .error = typeid(ValueError)}};
  return table;
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
