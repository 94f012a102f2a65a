// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/reshape.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> same(std::span<const HostArray> x) {
  return x[0].values;
}

OpTable reshape_table() {
  OpTable table{.name = "reshape", .op = &ops::kReshape};
  table.rows = {{.name = "plain",
                 .fn =
                     [](Inputs x) {
                       return reshape(x[0], {2, 6});
                     },
                 .inputs = {uniform({3, 4}, -1, 1)},
                 .reference = same,
                 .shape = Shape{2, 6}},
                {.name = "one extent open",
                 .fn =
                     [](Inputs x) {
                       return reshape(x[0], {2, -1});
                     },
                 .inputs = {uniform({3, 4}, -1, 1)},
                 .reference = same,
                 .shape = Shape{2, 6},
                 .zero_size = {{{0, 4}}}},
                {.name = "to rank 0",
                 .fn = [](Inputs x) { return reshape(x[0], {}); },
                 .inputs = {uniform({1, 1}, -1, 1)},
                 .reference = same,
                 .shape = Shape{}}};
  table.errors = {{.name = "counts",
                   .fn = [](Inputs x) { return reshape(x[0], {5}); },
                   .inputs = {uniform({3, 4}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "no such extent",
                   .fn =
                       [](Inputs x) {
                         return reshape(x[0], {5, -1});
                       },
                   .inputs = {uniform({3, 4}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "two open",
                   .fn =
                       [](Inputs x) {
                         return reshape(x[0], {-1, -1});
                       },
                   .inputs = {uniform({3, 4}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(reshape_table);

}  // namespace
}  // namespace neap::testing
