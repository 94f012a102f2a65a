// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/group_norm.hpp"

#include "neap/ops/norm/channel_norm_for_test.hpp"

namespace neap::testing {
namespace {

Tensor affine(Inputs x) {
  return group_norm(x[0], 2, x[1], x[2]);
}

OpTable group_norm_table() {
  OpTable table{.name = "group_norm", .op = &ops::kGroupNorm};
  table.rows = {
      {.name = "images",
       .fn = affine,
       .inputs = {uniform({2, 4, 2, 3}, -2, 2), uniform({4}, 0, 2),
                  uniform({4}, -1, 1)},
       .reference = channel_normed(2),
       .zero_size = {{{0, 4, 3, 3}, {4}, {4}}, {{2, 4, 0, 3}, {4}, {4}}}},
      {.name = "features",
       .fn = affine,
       .inputs = {uniform({3, 6}, -2, 2), uniform({6}, 0, 2),
                  uniform({6}, -1, 1)},
       .reference = channel_normed(2)},
      {.name = "plain, one group",
       .fn = [](Inputs x) { return group_norm(x[0], 1); },
       .inputs = {uniform({2, 3, 4}, 3, 5)},
       .reference = channel_normed(1)},
      {.name = "large",
       .fn = affine,
       .inputs = {uniform({3, 8, 40, 41}, -2, 2), uniform({8}, 0, 2),
                  uniform({8}, -1, 1)},
       .reference = channel_normed(2),
       .f32_value = {1e-5, 1e-5},
       .f32_derivative = {1e-4, 1e-4},
       .second_derivative = false}};
  table.errors = {
      {.name = "groups",
       .fn = [](Inputs x) { return group_norm(x[0], 3); },
       .inputs = {uniform({2, 4, 2}, 0, 1)},
       .error = typeid(ValueError)},
      {.name = "weight",
       .fn = affine,
       .inputs = {uniform({2, 4, 2}, 0, 1), uniform({2}, 0, 1),
                  uniform({2}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "eps",
       .fn = [](Inputs x) { return group_norm(x[0], 1, {}, {}, -1.0); },
       .inputs = {uniform({2, 4, 2}, 0, 1)},
       .error = typeid(ValueError)}};
  return table;
}

OpTable instance_norm_table() {
  return {
      .name = "instance_norm",
      .rows = {{.name = "images",
                .fn = [](Inputs x) { return instance_norm(x[0], x[1], x[2]); },
                .inputs = {uniform({2, 3, 2, 3}, -2, 2), uniform({3}, 0, 2),
                           uniform({3}, -1, 1)},
                .reference = channel_normed(-1),
                .zero_size = {{{0, 3, 2, 2}, {3}, {3}}}}},
      .errors = {{.name = "one element",
                  .fn = [](Inputs x) { return instance_norm(x[0]); },
                  .inputs = {uniform({2, 3, 1}, 0, 1)},
                  .error = typeid(ValueError)},
                 {.name = "rank",
                  .fn = [](Inputs x) { return instance_norm(x[0]); },
                  .inputs = {uniform({2, 3}, 0, 1)},
                  .error = typeid(ShapeError)}}};
}

OpTable group_norm_grad_table() {
  return channel_norm_grad_table("group_norm_grad", ops::kGroupNormGrad, 2);
}

const Listed kGroupNormListed(group_norm_table);
const Listed kListedInstance(instance_norm_table);
const Listed kListedGrad(group_norm_grad_table);

}  // namespace
}  // namespace neap::testing
