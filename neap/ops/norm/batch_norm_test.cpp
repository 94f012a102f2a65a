// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/batch_norm.hpp"

#include <gtest/gtest.h>

#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/norm/channel_norm_for_test.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/fail_sweep.hpp"

namespace neap::testing {
namespace {

const BatchNormOptions kTraining{.training = true};

Tensor affine(Inputs x) {
  return batch_norm(x[0], {}, {}, x[1], x[2], kTraining);
}

Tensor plain(Inputs x) {
  return batch_norm(x[0], {}, {}, {}, {}, kTraining);
}

std::vector<OpRow> rows() {
  return {{.name = "images",
           .fn = affine,
           .inputs = {uniform({3, 2, 2, 3}, -2, 2), uniform({2}, 0, 2),
                      uniform({2}, -1, 1)},
           .reference = channel_normed(0),
           .zero_size = {{{0, 3, 4, 4}, {3}, {3}}, {{2, 0, 4, 4}, {0}, {0}}}},
          {.name = "features",
           .fn = affine,
           .inputs = {uniform({5, 3}, -2, 2), uniform({3}, 0, 2),
                      uniform({3}, -1, 1)},
           .reference = channel_normed(0)},
          {.name = "weight",
           .fn =
               [](Inputs x) {
                 return batch_norm(x[0], {}, {}, x[1], {}, kTraining);
               },
           .inputs = {uniform({3, 2, 4}, 3, 5), uniform({2}, 0, 2)},
           .reference = channel_normed(0)},
          {.name = "bias",
           .fn =
               [](Inputs x) {
                 return batch_norm(x[0], {}, {}, {}, x[1], kTraining);
               },
           .inputs = {uniform({3, 2, 4}, 3, 5), uniform({2}, 0, 2)},
           .reference =
               [](std::span<const HostArray> x) {
                 const HostArray ones{Shape{2}, {1.0, 1.0}};
                 const std::array all{x[0], ones, x[1]};
                 return channel_normed(0)(all);
               }},
          {.name = "plain",
           .fn = plain,
           .inputs = {uniform({2, 3, 4}, -1, 1)},
           .reference = channel_normed(0)},
          {.name = "large",
           .fn = affine,
           .inputs = {uniform({9, 70, 11, 11}, -2, 2), uniform({70}, 0, 2),
                      uniform({70}, -1, 1)},
           .reference = channel_normed(0),
           .f32_value = {1e-5, 1e-5},
           .f32_derivative = {1e-4, 1e-4},
           .second_derivative = false}};
}

std::vector<ErrorRow> errors() {
  return {{.name = "one element a channel",
           .fn = plain,
           .inputs = {uniform({1, 3}, 0, 1)},
           .error = typeid(ValueError)},
          {.name = "rank",
           .fn = plain,
           .inputs = {uniform({3}, 0, 1)},
           .error = typeid(ShapeError)},
          {.name = "weight",
           .fn = affine,
           .inputs = {uniform({3, 4}, 0, 1), uniform({3}, 0, 1),
                      uniform({3}, 0, 1)},
           .error = typeid(ShapeError)},
          {.name = "integers",
           .fn = plain,
           .inputs = {integers({3, 4}, 0, 5).as(i32)},
           .error = typeid(DTypeError)},
          {.name = "nothing to normalise by",
           .fn = [](Inputs x) { return batch_norm(x[0], {}, {}); },
           .inputs = {uniform({3, 4}, 0, 1)},
           .error = typeid(ValueError)},
          {.name = "running_mean",
           .fn =
               [](Inputs x) {
                 return batch_norm(x[0], x[1], x[1], {}, {}, kTraining);
               },
           .inputs = {uniform({3, 4}, 0, 1), uniform({3}, 0, 1).constant()},
           .error = typeid(ShapeError)}};
}

OpTable batch_norm_table() {
  return {.name = "batch_norm",
          .op = &ops::kBatchNorm,
          .rows = rows(),
          .errors = errors()};
}

const Listed kBatchNormListed(batch_norm_table);

OpTable batch_norm_grad_table() {
  return channel_norm_grad_table("batch_norm_grad", ops::kBatchNormGrad, 0);
}

const Listed kGradListed(batch_norm_grad_table);

TEST(BatchNormTest, RefusesRunningValuesThatCannotBeWritten) {
  const Tensor x = ones({3, 2});
  const Tensor mean = requires_grad_(zeros({2}));
  const Tensor var = ones({2});
  EXPECT_THROW(batch_norm(x, mean, var, {}, {}, kTraining), GraphError);
  EXPECT_THROW(batch_norm(x, zeros({2}), {}, {}, {}, kTraining), ValueError);
  const Tensor one = zeros({1});
  EXPECT_THROW(batch_norm(x, expand(one, {2}), var, {}, {}, kTraining),
               ShapeError);
  EXPECT_EQ(one.item(), 0.0);
  EXPECT_THROW(batch_norm(x, zeros({2}), var, {}, {},
                          {.training = true, .momentum = {}}),
               ValueError);
  EXPECT_THROW(batch_norm(x, zeros({2}), var, {}, {},
                          {.training = true, .momentum = 1.5}),
               ValueError);
}

TEST(BatchNormTest, AFailedAllocationLeavesTheRunningValues) {
  const auto domain = memory::Domain::create();
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.domain = domain.get(); });
  const Tensor x = requires_grad_(randn({8, 4, 5, 5}));
  const Tensor mean = zeros({4});
  const Tensor var = ones({4});
  const auto sweep = sweep_allocation_failures(
      *domain,
      [&] {
        fill_(mean, 0.0);
        batch_norm(x, mean, var, {}, {}, kTraining);
      },
      [&](std::int64_t) {
        for (const double value : mean.to_vector()) {
          EXPECT_EQ(value, 0.0);
        }
      });
  EXPECT_TRUE(sweep.ok());
  EXPECT_GT(sweep.failures, 3);
  EXPECT_NE(mean.at({0}), 0.0);
}

}  // namespace
}  // namespace neap::testing
