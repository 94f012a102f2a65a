// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Weights that stay in bf16: values and gradients have the bits of the same
// calls on weights that were widened before.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/ops/ops.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/threads/pool.hpp"

namespace neap {
namespace {

using Values = memory::Vector<double>;
// A call of x and a weight.
using Call = std::function<Tensor(const Tensor& x, const Tensor& w)>;

class HalfWeightsTest : public ::testing::Test {
 protected:
  Generator generator_{11};
  UseGenerator use_{generator_};
};

struct Results {
  Values y;
  Values dx;
};

Results results_of(const Call& call, const Tensor& x, const Tensor& w) {
  const Tensor leaf = requires_grad_(x.detach());
  const Tensor y = call(leaf, w);
  Results results{y.to_vector(), {}};
  backward(sum(y * y));
  results.dx = leaf.grad().to_vector();
  return results;
}

void expect_same_bits(const Call& call, const Tensor& x, const Tensor& half) {
  const Results want = results_of(call, x, cast(half, f32));
  for (const int threads : {1, 2, 3}) {
    threads::Pool pool(threads);
    const tensor::ExecutionGuard on(
        [&](tensor::Execution& e) { e.executor = &pool; });
    const Results got = results_of(call, x, half);
    EXPECT_EQ(got.y, want.y) << threads << " threads";
    EXPECT_EQ(got.dx, want.dx) << threads << " threads";
  }
}

Tensor half_of(const Shape& shape) {
  return cast(randn(shape), bf16);
}

TEST_F(HalfWeightsTest, LinearHasTheBitsOfTheWidenedWeight) {
  const Tensor bias = randn({67});
  for (const std::int64_t rows : {1, 3, 40}) {
    const Tensor x = randn({rows, 35});
    expect_same_bits([](auto& a, auto& w) { return linear(a, w); }, x,
                     half_of({67, 35}));
    expect_same_bits([&](auto& a, auto& w) { return linear(a, w, bias); }, x,
                     half_of({67, 35}));
    expect_same_bits([&](auto& a, auto& w) { return linear(a, w, bias); }, x,
                     transpose(half_of({35, 67})));
  }
}

TEST_F(HalfWeightsTest, GeluLinearHasTheBitsOfTheWidenedWeight) {
  const Tensor bias = randn({67});
  for (const GeluForm form : {GeluForm::kTanh, GeluForm::kExact}) {
    expect_same_bits(
        [&](auto& a, auto& w) { return gelu_linear(a, w, bias, form); },
        randn({2, 9, 35}), half_of({67, 35}));
  }
}

TEST_F(HalfWeightsTest, MatmulHasTheBitsOfTheWidenedMatrix) {
  const auto call = [](auto& a, auto& w) { return matmul(a, w); };
  expect_same_bits(call, randn({40, 35}), half_of({35, 67}));
  expect_same_bits(call, randn({1, 35}), half_of({35, 67}));
  expect_same_bits(call, randn({35}), half_of({35, 67}));
  expect_same_bits(call, randn({4, 9, 35}), half_of({35, 67}));
  expect_same_bits(call, randn({4, 9, 35}), half_of({4, 35, 7}));
  expect_same_bits(call, randn({40, 35}), half_of({35}));
}

TEST_F(HalfWeightsTest, MatmulAddHasTheBitsOfTheWidenedMatrix) {
  const Tensor sum = randn({40, 67});
  expect_same_bits([&](auto& a, auto& w) { return ops::matmul_add(sum, a, w); },
                   randn({40, 35}), half_of({35, 67}));
}

TEST_F(HalfWeightsTest, LinearCrossEntropyHasTheBitsOfTheWidenedWeight) {
  const Tensor labels = randint(0, 70, {600});
  const Tensor bias = randn({70});
  expect_same_bits(
      [&](auto& a, auto& w) {
        return linear_cross_entropy(a, w, Tensor(), labels);
      },
      randn({600, 35}), half_of({70, 35}));
  expect_same_bits(
      [&](auto& a, auto& w) {
        return linear_cross_entropy(a, w, bias, labels,
                                    {.reduction = Reduction::kNone});
      },
      randn({600, 35}), half_of({70, 35}));
  const Tensor weights = rand({70});
  expect_same_bits(
      [&](auto& a, auto& w) {
        return linear_cross_entropy(
            a, w, bias, labels, {.label_smoothing = 0.1, .weight = weights});
      },
      randn({600, 35}), half_of({70, 35}));
}

TEST_F(HalfWeightsTest, AnInputOfSeveralCallsSumsItsGradients) {
  const Tensor second = half_of({67, 35});
  const Tensor wide = cast(second, f32);
  const Tensor x = randn({9, 35});
  const auto call = [](const Tensor& other) {
    return
        [&other](auto& a, auto& w) { return linear(a, w) + linear(a, other); };
  };
  const Tensor half = half_of({67, 35});
  const Results got = results_of(call(second), x, half);
  const Results want = results_of(call(wide), x, cast(half, f32));
  EXPECT_EQ(got.y, want.y);
  EXPECT_EQ(got.dx, want.dx);
}

TEST_F(HalfWeightsTest, ForwardModeHasTheBitsOfTheWidenedWeight) {
  const Tensor x = randn({9, 35});
  const Tensor tangent = randn({9, 35});
  const Tensor half = half_of({67, 35});
  const auto along = [&](const Tensor& w) {
    return jvp([&](const Tensor& a) { return linear(a, w); }, x, tangent)
        .tangent.to_vector();
  };
  EXPECT_EQ(along(half), along(cast(half, f32)));
}

TEST_F(HalfWeightsTest, EmbeddingGivesWidenedRows) {
  const Tensor half = half_of({13, 5});
  const Tensor ids = from_values({3, 0, 12, 3}, {4}, i64);
  const Tensor rows = embedding(half, ids);
  EXPECT_EQ(rows.dtype(), f32);
  EXPECT_EQ(rows.to_vector(), embedding(cast(half, f32), ids).to_vector());
  EXPECT_EQ(embedding(half, reshape(ids, {2, 2}), 3).shape(), (Shape{2, 2, 5}));
  EXPECT_THROW(embedding(half, ids, 13), ValueError);
}

// The message of a DTypeError that a call throws.
std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const DTypeError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(HalfWeightsTest, AWeightThatRequiresAGradientIsRefusedByName) {
  const Tensor x = randn({4, 5});
  const Tensor w = requires_grad_(half_of({6, 5}));
  const Tensor labels = from_values({0, 1, 2, 3}, {4}, i64);
  const std::string about = "is bf16 and requires a gradient";
  for (const auto& [call, name] :
       {std::pair<std::function<void()>, std::string>([&] { linear(x, w); },
                                                      "linear: w "),
        {[&] { gelu_linear(x, w); }, "gelu_linear: w "},
        {[&] { matmul(x, transpose(w)); }, "matmul: b "},
        {[&] { linear_cross_entropy(x, w, Tensor(), labels); },
         "linear_cross_entropy: w "},
        {[&] { embedding(w, labels); }, "embedding: weight "}}) {
    EXPECT_EQ(refusal_of(call).find(name + about), 0U) << refusal_of(call);
  }
  const NoGrad guard;  // where none is recorded, none is lost
  EXPECT_EQ(linear(x, w).to_vector(), linear(x, w.detach()).to_vector());
  EXPECT_EQ(embedding(w, labels).dtype(), f32);
}

TEST_F(HalfWeightsTest, OtherOperandsInBf16AreRefusedByName) {
  const Tensor x = randn({4, 5});
  const Tensor w = half_of({6, 5});
  EXPECT_EQ(refusal_of([&] { linear(x, w, half_of({6})); }),
            "linear: bias is bf16 beside x of f32; w alone may be, beside f32");
  EXPECT_EQ(refusal_of([&] {
              linear(randn({4, 5}, f64), w);
            }),
            "linear: w is bf16 beside x of f64; w alone may be, beside f32");
  EXPECT_NE(refusal_of([&] {
              linear(half_of({4, 5}), w);
            }).find("not in bf16; cast first"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              matmul(half_of({4, 5}), transpose(w));
            }).find("not in bf16; cast first"),
            std::string::npos);
  EXPECT_EQ(
      refusal_of([&] {
        ops::matmul_add(randn({4, 6}), half_of({4, 5}), transpose(w));
      }),
      "matmul_add: a is bf16 beside c of f32; b alone may be, beside f32");
  Tensor trained = half_of({5, 6});
  requires_grad_(trained);
  EXPECT_NE(refusal_of([&] {
              ops::matmul_add(randn({4, 6}), randn({4, 5}), trained);
            }).find("b is bf16 and requires a gradient"),
            std::string::npos);
}

TEST_F(HalfWeightsTest, ProductsInBf16RefuseIt) {
  kernels::isa();
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const UsePrecision guard(Precision::kBf16);
  EXPECT_NE(refusal_of([&] {
              ops::matmul_add(randn({4, 6}), randn({4, 5}), half_of({5, 6}));
            }).find("which products in bf16 do not take"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              linear(randn({4, 5}), half_of({6, 5}));
            }).find("which products in bf16 do not take"),
            std::string::npos);
}

}  // namespace
}  // namespace neap
