// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The running values of a batch_norm are moved in every run of a program, and
// once in a run, however often a segment computes the norm.
#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"

namespace neap::compiler {
namespace {

struct Layer {
  Tensor mean = zeros({3});
  Tensor var = ones({3});
  Tensor batches = full({}, 0.0, i64);
  Tensor weight = requires_grad_(from_values({0.5, 1.0, 1.5}, {3}));
  Tensor bias = requires_grad_(from_values({0.1, 0.2, 0.3}, {3}));

  Tensor operator()(const Tensor& x) const {
    return batch_norm(x, mean, var, weight, bias,
                      {.training = true, .num_batches_tracked = batches});
  }
};

enum class Form { kPlain, kSegment, kNested, kForwardMode };

Tensor run(const Layer& layer, const Tensor& x, Form form) {
  const auto plain = [&layer](const Tensor& in) { return tanh(layer(in)); };
  switch (form) {
    case Form::kSegment:
      return rematerialise(plain)(x);
    case Form::kNested:
      return rematerialise(
          [plain](const Tensor& in) { return rematerialise(plain)(in); })(x);
    case Form::kForwardMode:
      return jvp(plain, x, ones_like(x)).tangent;
    default:
      return plain(x);
  }
}

// Two steps, eagerly or as a program: losses, gradients, running values.
Many train(Form form, bool is_traced) {
  const Layer layer;
  const std::array leaves{layer.weight, layer.bias};
  const auto step = [&](In in, Many& out) {
    zero_grad(leaves);
    const Tensor loss = sum(square(run(layer, in[0], form)));
    backward(loss);
    out.push_back(loss.detach());
    out.push_back(layer.weight.grad());
    out.push_back(layer.bias.grad());
  };
  Generator generator(3);
  const UseGenerator use(generator);
  Many batches;
  batches.push_back(randn({4, 3, 2, 2}));
  batches.push_back(randn({4, 3, 2, 2}));
  Many all;
  Program program;
  if (is_traced) {
    program = trace(step, specs_of(std::span(batches).first(1)));
  }
  for (const Tensor& batch : batches) {
    const Many results = is_traced ? interpret(program, std::span(&batch, 1))
                                   : run_eagerly(step, std::span(&batch, 1));
    for (const Tensor& result : results) {
      all.push_back(copy(result.detach()));
    }
  }
  all.push_back(layer.mean);
  all.push_back(layer.var);
  all.push_back(layer.batches);
  return all;
}

TEST(BatchNormTraceTest, EachRunMovesTheRunningValuesOnce) {
  const Many wanted = train(Form::kPlain, false);
  EXPECT_EQ(wanted.back().item(), 2);
  expect_same(train(Form::kPlain, true), wanted);
  for (const Form form : {Form::kSegment, Form::kNested}) {
    expect_same(train(form, false), wanted);
    expect_same(train(form, true), wanted);
  }
}

TEST(BatchNormTraceTest, SoDoesForwardMode) {
  const Many wanted = train(Form::kForwardMode, false);
  EXPECT_EQ(wanted.back().item(), 2);
  expect_same(train(Form::kForwardMode, true), wanted);
}

}  // namespace
}  // namespace neap::compiler
