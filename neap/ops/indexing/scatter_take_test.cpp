// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter_take.hpp"

#include "neap/ops/indexing/indexing_test.hpp"

namespace neap::testing {
namespace {

template <int kOutput>
OpFunction output_along(int axis) {
  return [axis](Inputs x) {
    return std::get<kOutput>(ops::scatter_take(x[0], axis, x[1]));
  };
}

// From the last index to the first.
Reference taken(int axis, bool wants_rest) {
  return [=](std::span<const HostArray> x) {
    std::vector<double> rest = x[0].values;
    std::vector<double> y(x[1].values.size());
    for (std::size_t i = y.size(); i-- > 0;) {
      double& from =
          rest[indexed_place(x[0].shape, x[1].shape, i, axis, x[1].values[i])];
      y[i] = std::exchange(from, 0.0);
    }
    return wants_rest ? rest : y;
  };
}

OpTable scatter_take_table() {
  OpTable table{.name = "scatter_take", .op = &ops::kScatterTake};
  const auto add = [&](const char* name, int axis, const Shape& x,
                       const Shape& index) {
    const std::vector<InputSpec> inputs = {uniform(x, -1, 1),
                                           integers(index, 0, x[axis]).as(i64)};
    table.rows.push_back({.name = std::string(name) + ", rest",
                          .fn = output_along<0>(axis),
                          .inputs = inputs,
                          .reference = taken(axis, true)});
    table.rows.push_back({.name = std::string(name) + ", taken",
                          .fn = output_along<1>(axis),
                          .inputs = inputs,
                          .reference = taken(axis, false)});
  };
  add("last axis", 1, {3, 5}, {3, 4});
  add("first axis", 0, {4, 3}, {7, 3});
  add("shorter index", 1, {3, 4, 5}, {2, 3, 2});
  add("large", 0, {300}, {40000});
  table.rows[0].zero_size = {{{0, 5}, {0, 4}}};
  table.rows[6].second_derivative = false;
  table.rows[7].second_derivative = false;
  table.errors = {
      {.name = "integers",
       .fn = output_along<0>(0),
       .inputs = {integers({3}, 0, 5).as(i32), integers({2}, 0, 3).as(i64)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(scatter_take_table);

}  // namespace
}  // namespace neap::testing
