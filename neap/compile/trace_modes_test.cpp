// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Steps that differentiate in other ways than one backward.
#include <gmock/gmock.h>

#include <array>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/functional.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/custom_op.hpp"
#include "neap/ops/ops.hpp"

namespace neap::compiler {
namespace {

Many with(std::initializer_list<Tensor> tensors) {
  return Many(tensors.begin(), tensors.end());
}

Tensor cubes(const Tensor& x) {
  return sum(x * x * tanh(x));
}

TEST(TraceModesTest, ForwardMode) {
  expect_traced(
      [](In in, Many& out) {
        const JvpResult result =
            jvp([](const Tensor& x) { return softmax(x * dropout(x, 0.5), 1); },
                in[0], in[1]);
        out.push_back(result.value);
        out.push_back(result.tangent);
      },
      with({randn({3, 4}), randn({3, 4})}));
}

TEST(TraceModesTest, ProductsWithTheHessian) {
  expect_traced(
      [](In in, Many& out) {
        const HvpResult result = hvp(cubes, in[0], in[1]);
        out.push_back(result.value);
        out.push_back(result.gradient);
        out.push_back(result.product);
      },
      with({randn({6}), randn({6})}));
}

TEST(TraceModesTest, HessiansAndJacobians) {
  expect_traced(
      [](In in, Many& out) {
        out.push_back(hessian(cubes, in[0]));
        out.push_back(jacobian([](const Tensor& x) { return exp(x); }, in[0]));
      },
      with({randn({3})}));
}

TEST(TraceModesTest, GradientsOfGradients) {
  expect_traced(
      [](In in, Many& out) {
        const Tensor x = requires_grad_(in[0].alias());
        const Gradients first = grad(cubes(x), {x}, {.create_graph = true});
        const Gradients second = grad(sum(square(first[0])), {x});
        out.push_back(first[0].detach());
        out.push_back(second[0]);
      },
      with({randn({5})}));
}

TEST(TraceModesTest, BackwardThatKeepsItsGraph) {
  const Tensor w = requires_grad_(randn({4}));
  const auto step = [&](In in, Many& out) {
    zero_grad(std::span(&w, 1));
    const Tensor loss = cubes(w * in[0]);
    backward(loss, {.create_graph = true});
    const Tensor penalty = sum(square(w.grad()));
    out.push_back(grad(penalty, {w})[0]);
    set_grad(w, w.grad().detach());
    out.push_back(w.grad());
  };
  const Program program = expect_traced(step, with({randn({4})}));
  ASSERT_EQ(program.grads.size(), 1U);
  EXPECT_FALSE(program.grads[0].is_read);
}

TEST(TraceModesTest, HooksOfOps) {
  const Tensor w = requires_grad_(randn({4}));
  const HookHandle halves =
      register_hook(w, [](const Tensor& g) { return g * 0.5; });
  const auto step = [&](In in, Many& out) {
    zero_grad(std::span(&w, 1));
    const Tensor hidden = w * in[0];
    register_hook(hidden, [](const Tensor& g) { return clip(g, -0.1, 0.1); });
    retain_grad(hidden);
    backward(cubes(hidden));
    out.push_back(w.grad());
    out.push_back(hidden.grad());
  };
  expect_traced(step, with({randn({4})}));
}

TEST(TraceModesTest, AHookThatLooksIsRefused) {
  const Tensor w = requires_grad_(randn({4}));
  register_hook(w, [](const Tensor& g) { g.to_vector(); });
  EXPECT_THROW(trace([&](In, Many&) { backward(cubes(w)); }, {}), TraceError);
  EXPECT_FALSE(w.grad().defined());
}

// Calls of an op in the program, and those of them in a segment.
std::pair<int, int> calls_of(const Program& program, const graph::Op& op) {
  std::pair<int, int> count{0, 0};
  for (const Call& call : program.calls) {
    if (call.op == &op) {
      ++count.first;
      count.second += call.segment != 0 ? 1 : 0;
    }
  }
  return count;
}

TEST(TraceModesTest, SegmentsRunAgainInTheBackward) {
  const Tensor w = requires_grad_(randn({4, 4}));
  const auto step = [&](In in, Many& out) {
    zero_grad(std::span(&w, 1));
    const auto block = rematerialise([&](const Tensor& x) {
      return dropout(tanh(matmul(x, w)), 0.3) + rand(x.shape());
    });
    const Tensor loss = sum(block(block(in[0])));
    backward(loss);
    out.push_back(loss);
    out.push_back(w.grad());
  };
  const Program program = expect_traced(step, with({randn({3, 4})}));
  EXPECT_EQ(calls_of(program, ops::kTanh), std::pair(4, 2));
  EXPECT_EQ(program.draws, 4U);
}

TEST(TraceModesTest, SegmentsInSegments) {
  const Tensor w = requires_grad_(randn({4, 4}));
  const auto step = [&](In in, Many& out) {
    zero_grad(std::span(&w, 1));
    const auto inner =
        rematerialise([&](const Tensor& x) { return tanh(matmul(x, w)); });
    const auto outer = rematerialise(
        [&](const Tensor& x) { return sigmoid(inner(inner(x))); });
    const Tensor loss = sum(outer(in[0]));
    backward(loss);
    out.push_back(loss);
    out.push_back(w.grad());
  };
  const Program program = expect_traced(step, with({randn({3, 4})}));
  EXPECT_EQ(calls_of(program, ops::kTanh), std::pair(6, 4));
  EXPECT_EQ(calls_of(program, ops::kSigmoid), std::pair(2, 1));
}

TEST(TraceModesTest, SegmentsThatKeepProducts) {
  const Tensor w = requires_grad_(randn({64, 64}));
  const auto step = [&](In in, Many& out) {
    zero_grad(std::span(&w, 1));
    const auto block =
        rematerialise([&](const Tensor& x) { return tanh(matmul(x, w)); },
                      {.keep = Keep::kComputeBound});
    backward(sum(block(in[0])));
    out.push_back(w.grad());
  };
  const Program program = expect_traced(step, with({randn({64, 64})}));
  EXPECT_EQ(calls_of(program, ops::kTanh), std::pair(2, 1));
}

struct Halved {
  static constexpr std::string_view name = "halved";
  static constexpr int inputs = 1;
  static constexpr bool dense = true;
  static constexpr CustomOp::Facts facts{.effect = graph::Effect::kRandom};
  float low = 0;
  void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const {
    out[0] = in[0];
  }
  void forward(const CustomOp::Forward& c) const noexcept {
    const auto x = c.values<float>(0);
    const auto y = c.results<float>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = low + x[i] * base::uniform_f32(c.draw().word(i));
    }
  }
  void vjp(CustomOp::Vjp& c) const { c.set(0, c.take_cotangent() * 0.5); }
};

TEST(TraceModesTest, CustomOpsWithStateAndDraws) {
  Program program;
  {
    const CustomOp halved(Halved{.low = 2});
    program = expect_traced(
        [&](In in, Many& out) {
          const Tensor x = requires_grad_(in[0].alias());
          const Tensor y = halved(x);
          backward(sum(y));
          out.push_back(y.detach());
          out.push_back(x.grad());
        },
        with({randn({9})}));
  }
  // The op outlives its handle as long as a program has a call of it.
  EXPECT_EQ(program.draws, 1U);
  EXPECT_EQ(interpret(program, with({ones({9})})).size(), 2U);
}

TEST(TraceModesTest, ChecksAreMadeInEveryRun) {
  const Tensor table = randn({5, 5});
  const auto step = [&](In in, Many& out) {
    out.push_back(embedding(table, in[0]));
    out.push_back(one_hot(in[0], 5));
    out.push_back(index_select(table, 0, in[0]));
    out.push_back(cross_entropy(table, in[0] * 1));
  };
  const Many good = with({from_values({0, 4, 1, 2, 0}, {5}, i64)});
  const Many bad = with({from_values({0, 4, 9, 2, 0}, {5}, i64)});
  const Program program = expect_traced(step, good);
  try {
    interpret(program, bad);
    FAIL() << "an index out of range was taken";
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("embedding: index 9 at [2]"));
  }
}

TEST(TraceModesTest, ChecksOfResults) {
  const Program program =
      expect_traced([](In in, Many& out) { out.push_back(cholesky(in[0])); },
                    with({from_values({2, 1, 1, 2}, {2, 2})}));
  EXPECT_THROW(interpret(program, with({from_values({1, 2, 2, 1}, {2, 2})})),
               ValueError);
}

TEST(TraceModesTest, ShapesThatDependOnValuesAreRefused) {
  const Many in = with({from_values({1, 0, 1}, {3})});
  EXPECT_THROW(
      trace([](In x, Many& out) { out.push_back(pack(x[0], x[0] > 0.5)); },
            specs_of(in)),
      TraceError);
  const auto filled = [](In x, Many& out) {
    out.push_back(unpack(from_values({7, 8}, {2}), x[0] > 0.5, x[0]));
  };
  const Program program = expect_traced(filled, in);
  EXPECT_THROW(interpret(program, with({from_values({1, 1, 1}, {3})})),
               ValueError);
}

TEST(TraceModesTest, AnotherTraceInsideIsRefused) {
  EXPECT_THROW(trace([](In, Many&) { trace([](In, Many&) {}, {}); }, {}),
               TraceError);
  EXPECT_THROW(jvp(
                   [](const Tensor& x) {
                     trace([](In, Many&) {}, {});
                     return x;
                   },
                   ones({1}), ones({1})),
               TraceError);
}

}  // namespace
}  // namespace neap::compiler
