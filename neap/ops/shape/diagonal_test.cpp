// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/diagonal.hpp"

#include "neap/kernels/shape/diagonal_put.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

const InputSpec kSix = literal({2, 3}, {1, 2, 3, 4, 5, 6});

OpTable diagonal_table() {
  return {.name = "diagonal",
          .op = &ops::kDiagonal,
          .rows = {{.name = "main",
                    .fn = [](Inputs x) { return diagonal(x[0]); },
                    .inputs = {kSix},
                    .expected = {1, 5}},
                   {.name = "to the right",
                    .fn = [](Inputs x) { return diagonal(x[0], 2); },
                    .inputs = {kSix},
                    .expected = {3}},
                   {.name = "down",
                    .fn = [](Inputs x) { return diagonal(x[0], -1); },
                    .inputs = {kSix},
                    .expected = {4}},
                   {.name = "axes the other way round",
                    .fn = [](Inputs x) { return diagonal(x[0], 1, 2, 0); },
                    .inputs = {literal({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                    .expected = {5, 7},
                    .shape = Shape{2, 1}},
                   {.name = "beyond",
                    .fn = [](Inputs x) { return diagonal(x[0], 9); },
                    .inputs = {kSix},
                    .reference =
                        [](std::span<const HostArray>) {
                          return std::vector<double>();
                        },
                    .shape = Shape{0},
                    .zero_size = {{{0, 3}}}}},
          .errors = {{.name = "axes",
                      .fn = [](Inputs x) { return diagonal(x[0], 0, 1, -1); },
                      .inputs = {kSix},
                      .error = typeid(ShapeError)}}};
}

const Listed kDiagonalListed(diagonal_table);

OpTable diagonal_put_table() {
  const auto put = [](Inputs x) {
    return ops::diagonal_put(x[0], {1, 2, 0, 2, 3});
  };
  return {.name = "diagonal_put",
          .op = &ops::kDiagonalPut,
          .rows = {{.name = "plain",
                    .fn = put,
                    .inputs = {literal({2, 2}, {1, 2, 3, 4})},
                    .expected = {0, 0, 0, 0, 1, 0, 3, 0, 0, 2, 0, 4},
                    .shape = Shape{3, 2, 2}},
                   {.name = "nothing",
                    .fn = put,
                    .inputs = {uniform({0, 2}, 0, 1)},
                    .reference =
                        [](std::span<const HostArray>) {
                          return std::vector<double>();
                        },
                    .zero_size = {{{0, 2}}}}}};
}

const Listed kPutListed(diagonal_put_table);

OpTable diag_table() {
  return {.name = "diag",
          .rows = {{.name = "of a matrix",
                    .fn = [](Inputs x) { return diag(x[0], 1); },
                    .inputs = {kSix},
                    .expected = {2, 6}},
                   {.name = "of a vector",
                    .fn = [](Inputs x) { return diag(x[0], -1); },
                    .inputs = {literal({2}, {1, 2})},
                    .expected = {0, 0, 0, 1, 0, 0, 0, 2, 0},
                    .shape = Shape{3, 3}}},
          .errors = {{.name = "rank",
                      .fn = [](Inputs x) { return diag(x[0]); },
                      .inputs = {uniform({}, 0, 1)},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "diagonal has them"};
}

const Listed kDiagListed(diag_table);

}  // namespace
}  // namespace neap::testing
