// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/squeeze.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> same(std::span<const HostArray> x) {
  return x[0].values;
}

OpRow row(const char* name, OpFunction fn, const Shape& from, const Shape& to) {
  return {.name = name,
          .fn = std::move(fn),
          .inputs = {uniform(from, -1, 1)},
          .reference = same,
          .shape = to};
}

OpTable squeeze_table() {
  OpTable table{.name = "squeeze"};
  table.rows = {
      row("all", [](Inputs x) { return squeeze(x[0]); }, {1, 3, 1}, {3}),
      row("one", [](Inputs x) { return squeeze(x[0], -1); }, {1, 3, 1}, {1, 3}),
      row("unsqueeze", [](Inputs x) { return unsqueeze(x[0], 1); }, {2, 3},
          {2, 1, 3}),
      row("unsqueeze at the end", [](Inputs x) { return unsqueeze(x[0], -1); },
          {2, 3}, {2, 3, 1}),
      row("flatten", [](Inputs x) { return flatten(x[0], 1); }, {2, 3, 4},
          {2, 12}),
      row("flatten rank 0", [](Inputs x) { return flatten(x[0]); }, {}, {1})};
  table.rows[4].zero_size = {{{0, 3, 4}}, {{2, 0, 4}}};
  table.errors = {{.name = "not 1",
                   .fn = [](Inputs x) { return squeeze(x[0], 0); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "unsqueeze's axis",
                   .fn = [](Inputs x) { return unsqueeze(x[0], 4); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "unsqueeze:"},
                  {.name = "flatten's axes",
                   .fn = [](Inputs x) { return flatten(x[0], 1, 0); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "flatten:"}};
  return table;
}

const Listed kListed(squeeze_table);

}  // namespace
}  // namespace neap::testing
