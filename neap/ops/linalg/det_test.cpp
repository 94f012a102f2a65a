// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/det.hpp"

#include "neap/ops/linalg/matrices_test.hpp"

namespace neap::testing {
namespace {

OpTable det_table() {
  OpTable table{.name = "det", .op = &ops::kDet};
  table.rows = {
      {.name = "batched",
       .fn = [](Inputs x) { return det(regular(x[0])); },
       .inputs = {uniform({2, 3, 4, 4}, -1, 1)},
       .reference = [](auto x) { return determinants(regular(x[0])); },
       .shape = Shape{2, 3},
       .zero_size = {{{0, 3, 3}}}},
      {.name = "rows that must change places",
       .fn = [](Inputs x) { return det(x[0]); },
       .inputs = {literal({2, 2, 2}, {0, 2, 3, 0, 1, 0, 0, 1})},
       .expected = {-6, 1},
       .any_layout = false},
      {.name = "singular",
       .fn = [](Inputs x) { return det(x[0]); },
       .inputs = {literal({2, 2, 2}, {1, 2, 2, 4, 3, NAN, 1, 1})},
       .expected = {0, NAN},
       .differentiable = false},
      {.name = "of nothing",
       .fn = [](Inputs x) { return det(x[0]); },
       .inputs = {uniform({2, 0, 0}, 0, 1)},
       .expected = {1, 1},
       .differentiable = false}};
  table.errors = {{.name = "not square",
                   .fn = [](Inputs x) { return det(x[0]); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "integers",
                   .fn = [](Inputs x) { return det(x[0]); },
                   .inputs = {integers({2, 2}, 0, 3).as(i64)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kDetListed(det_table);

std::vector<double> logs(std::span<const HostArray> x) {
  std::vector<double> out = determinants(regular(x[0]));
  for (double& value : out) {
    value = std::log(std::abs(value));
  }
  return out;
}

const std::vector<double> kMixed{0, 2, 3, 0, 1, 2, 2, 4, 1, NAN, 0, 2};

OpTable slogdet_table() {
  OpTable table{.name = "slogdet", .op = &ops::kSlogdet};
  table.rows = {
      {.name = "logabsdet",
       .fn = [](Inputs x) { return slogdet(regular(x[0])).logabsdet; },
       .inputs = {uniform({2, 3, 4, 4}, -1, 1)},
       .reference = logs,
       .shape = Shape{2, 3},
       .zero_size = {{{0, 3, 3}}}},
      {.name = "negative",
       .fn = [](Inputs x) { return slogdet(mul(regular(x[0]), -1)).logabsdet; },
       .inputs = {uniform({3, 3}, -1, 1)},
       .reference = logs},
      {.name = "sign",
       .fn = [](Inputs x) { return slogdet(x[0]).sign; },
       .inputs = {literal({3, 2, 2}, kMixed)},
       .expected = {-1, 0, NAN},
       .differentiable = false,
       .any_layout = false},
      {.name = "logarithm of a singular matrix's",
       .fn = [](Inputs x) { return slogdet(x[0]).logabsdet; },
       .inputs = {literal({3, 2, 2}, kMixed)},
       .expected = {std::log(6.0), -INFINITY, NAN},
       .differentiable = false,
       .any_layout = false}};
  table.errors = {{.name = "not square",
                   .fn = [](Inputs x) { return slogdet(x[0]).sign; },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kSlogdetListed(slogdet_table);

OpTable logdet_table() {
  OpTable table{.name = "logdet"};
  table.rows = {{.name = "batched",
                 .fn = [](Inputs x) { return logdet(regular(x[0])); },
                 .inputs = {uniform({2, 4, 4}, -1, 1)},
                 .reference = logs,
                 .zero_size = {{{0, 3, 3}}}},
                {.name = "not positive",
                 .fn = [](Inputs x) { return logdet(x[0]); },
                 .inputs = {literal({3, 2, 2}, kMixed)},
                 .expected = {NAN, -INFINITY, NAN},
                 .differentiable = false,
                 .any_layout = false}};
  table.errors = {{.name = "not square",
                   .fn = [](Inputs x) { return logdet(x[0]); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "slogdet:"}};
  return table;
}

const Listed kLogdetListed(logdet_table);

}  // namespace
}  // namespace neap::testing
