// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Gradients that left the library were views of one another, of the caller's
// cotangent, or one element shown many times: a write to one changed others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/functional.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using testing::Each;

Tensor leaf(const Shape& shape) {
  return requires_grad_(full(shape, 0.5));
}

// Writes 7 to every element of each in turn; no other may see it.
void expect_own_memory(std::vector<Tensor> all) {
  for (Tensor& one : all) {
    ASSERT_TRUE(one.is_contiguous());
    std::vector<memory::Vector<double>> before;
    for (const Tensor& other : all) {
      before.push_back(other.to_vector());
    }
    for (float& value : one.mutable_values<float>()) {
      value = 7;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].identity() == one.identity()) {
        EXPECT_THAT(all[i].to_vector(), Each(7));
      } else {
        EXPECT_EQ(all[i].to_vector(), before[i]) << i;
      }
    }
  }
}

TEST(GradientMemoryTest, GradReturnsTensorsThatShareNothing) {
  const Tensor a = leaf({2, 3});
  const Tensor b = leaf({2, 3});
  const Tensor c = leaf({6});
  const Tensor y = add(add(a, b), reshape(c, {2, 3}));
  const Tensor cotangent = full({2, 3}, 3);
  const std::vector<Tensor> given{cotangent};
  Gradients g = grad(y, {a, b, c, a}, {.cotangents = given});
  expect_own_memory({g.take(0), g.take(1), g.take(2), g.take(3), cotangent});
}

TEST(GradientMemoryTest, GradReturnsNoStrideOfZero) {
  const Tensor a = leaf({2, 3});
  const Tensor b = leaf({3, 2});
  Gradients g = grad(sum(add(a, transpose(b, 0, 1))), {a, b});
  EXPECT_EQ(g[0].strides(), Shape({3, 1}));
  EXPECT_EQ(g[1].strides(), Shape({2, 1}));
  expect_own_memory({g.take(0), g.take(1)});
}

TEST(GradientMemoryTest, RecordedGradientsShareNothingEither) {
  const Tensor a = leaf({2, 3});
  const Tensor b = leaf({2, 3});
  const Tensor cotangent = requires_grad_(full({2, 3}, 3));
  const std::vector<Tensor> given{cotangent};
  const Gradients g =
      grad(add(a, b), {a, b}, {.cotangents = given, .create_graph = true});
  EXPECT_FALSE(g[0].is_alias_of(g[1]));
  EXPECT_FALSE(g[0].is_alias_of(cotangent));
  EXPECT_TRUE(g[0].requires_grad());
  EXPECT_EQ(grad(sum(g[0]), {cotangent})[0].to_vector(),
            ones({2, 3}).to_vector());
}

TEST(GradientMemoryTest, AHookThatWritesChangesItsOwnGradientAlone) {
  const Tensor a = leaf({4});
  const Tensor b = leaf({4});
  const Tensor cotangent = full({4}, 3);
  const auto write = [](const Tensor& gradient) {
    Tensor own = gradient;
    for (float& value : own.mutable_values<float>()) {
      value = 7;
    }
  };
  register_hook(a, write);
  const Tensor y = add(a, b);
  register_hook(y, [](const Tensor& gradient) {
    EXPECT_EQ(gradient.to_vector(), full({4}, 3).to_vector());
  });
  backward(y, {.cotangent = cotangent});
  EXPECT_THAT(a.grad().to_vector(), Each(7));
  EXPECT_THAT(b.grad().to_vector(), Each(3));
  EXPECT_THAT(cotangent.to_vector(), Each(3));
}

TEST(GradientMemoryTest, AHookOfAResultWritesToNoCotangentOfTheCaller) {
  const Tensor a = leaf({4});
  const Tensor y = mul(a, 2.0);
  const Tensor cotangent = full({4}, 3);
  register_hook(y, [](const Tensor& gradient) {
    Tensor own = gradient;
    own.mutable_values<float>()[0] = 7;
  });
  backward(y, {.cotangent = cotangent});
  EXPECT_THAT(cotangent.to_vector(), Each(3));
  EXPECT_EQ(a.grad().at({0}), 14);
}

TEST(GradientMemoryTest, WhatAHookPutAsideIsNotTheGradient) {
  const Tensor a = leaf({4});
  Tensor aside;
  register_hook(a, [&aside](const Tensor& gradient) { aside = gradient; });
  backward(sum(mul(a, a)));
  EXPECT_FALSE(aside.is_alias_of(a.grad()));
}

TEST(GradientMemoryTest, ATangentIsNotTheCallers) {
  const Tensor x = full({4}, 0.5);
  const Tensor tangent = full({4}, 3);
  const auto result = jvp(
      [](std::span<const Tensor> in) {
        Tensors out;
        out.push_back(add(in[0], in[1]));
        out.push_back(reshape(in[0], {2, 2}));
        return out;
      },
      std::vector<Tensor>{x, x}, std::vector<Tensor>{tangent, Tensor()});
  expect_own_memory({result.tangents[0], result.tangents[1], tangent});
}

TEST(GradientMemoryTest, PullbacksGiveTensorsThatShareNothing) {
  const Tensor x = full({4}, 0.5);
  const auto value = [](std::span<const Tensor> in) {
    return add(in[0], in[1]);
  };
  const VjpResult result = vjp(value, std::vector<Tensor>{x, x});
  const Tensor cotangent = full({4}, 3);
  Gradients g = result.pullback(cotangent);
  expect_own_memory({g.take(0), g.take(1), cotangent});
}

TEST(GradientMemoryTest, HvpReturnsTensorsThatShareNothing) {
  const Tensor x = full({4}, 0.5);
  const auto value = [](std::span<const Tensor> in) {
    return sum(mul(in[0], in[1]));
  };
  const Tensor direction = full({4}, 3);
  HvpResults result = hvp(value, std::vector<Tensor>{x, x},
                          std::vector<Tensor>{direction, direction});
  expect_own_memory({result.gradients.take(0), result.gradients.take(1),
                     result.products.take(0), result.products.take(1), x,
                     direction});
}

}  // namespace
}  // namespace neap
