// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every pass, alone and with the others, keeps the bits of steps made of random
// ops, views, writes, draws, backward and updates.
#include "neap/program/passes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>
#include <random>

#include "neap/autograd/backward.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/models/mlp.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/program/order.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

// A step that is the same each time it is called; worlds of one seed are equal.
class World {
 public:
  explicit World(std::uint64_t seed) : seed_(seed) {
    for (Tensor& w : weights_) {
      w = requires_grad_(matrix());
      parameters_.push_back({memory::String("w"), w, {}});
    }
    state_ = matrix();
    optimizer_.emplace(parameters_,
                       optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
  }

  Many arguments() { return Many{matrix(), matrix()}; }

  void step(In in, Many& out) {
    std::mt19937_64 random(seed_);
    optimizer_->zero_grad();
    memory::Vector<Tensor> values{in[0], in[1], weights_[0], weights_[1],
                                  weights_[2]};
    for (int i = 0; i < 12; ++i) {
      values.push_back(next(random, values));
      if (random() % 6 == 0) {
        write(random, values[random() % values.size()].detach());
      }
    }
    Tensor loss = sum(square(values.back()));
    for (const Tensor& w : weights_) {
      loss = loss + sum(w * values[values.size() - 2]);
    }
    backward(loss);
    if (random() % 2 == 0) {
      out.push_back(values[values.size() - 3].detach());
    }
    optimizer_->step();
    out.push_back(loss.detach());
  }

  /// All that a step leaves behind.
  Many left() const {
    Many all{state_};
    for (const Tensor& w : weights_) {
      all.push_back(w);
      all.push_back(w.grad().defined() ? w.grad() : Tensor(scalar(0)));
    }
    return all;
  }

 private:
  Tensor matrix() {
    Tensor t = empty({4, 4});
    for (float& element : t.mutable_values<float>()) {
      element = std::uniform_real_distribution<float>(-1, 1)(numbers_);
    }
    return t;
  }

  static Tensor next(std::mt19937_64& random,
                     const memory::Vector<Tensor>& values) {
    const Tensor& a = values[random() % values.size()];
    const Tensor& b = values[random() % values.size()];
    switch (random() % 12) {
      case 0:
        return a + b;
      case 1:
        return tanh(a * b);
      case 2:
        return relu(a);
      case 3:
        return tanh(matmul(a, b));
      case 4:
        return transpose(a, 0, 1);
      case 5:
        return dropout(a, 0.25);
      case 6:
        return exp(-square(a));
      case 7:
        return a * 0.5 + 0.25;
      case 8:
        return expand(mean(a, {0}, true), {4, 4});
      case 9:
        return sigmoid(a) + sigmoid(a);
      case 10:
        return softmax(a, 1);
      default:
        return concat({slice(a, 0, 0, 2), slice(b, 0, 1, 3)}, 0);
    }
  }

  void write(std::mt19937_64& random, const Tensor& by) {
    const NoGrad guard;
    switch (random() % 3) {
      case 0:
        copy_(state_, by);
        break;
      case 1:
        add_(state_, tanh(by));
        break;
      default:
        copy_(slice(state_, 0, 1, 3), slice(by, 0, 0, 2));
    }
  }

  std::uint64_t seed_;
  std::mt19937_64 numbers_{seed_ + 1};
  std::array<Tensor, 3> weights_;
  Tensor state_;
  ParameterList parameters_;
  std::optional<optim::SGD> optimizer_;
};

constexpr Passes kNone = {false, false, false, false, false, false, false};

Passes only(bool Passes::*pass) {
  Passes passes = kNone;
  passes.*pass = true;
  return passes;
}

Passes all_but(bool Passes::*pass) {
  Passes passes;
  passes.*pass = false;
  return passes;
}

memory::Vector<Passes> all_sets() {
  memory::Vector<Passes> sets{kNone, Passes{}};
  for (bool Passes::*pass :
       {&Passes::dead_code, &Passes::common_subexpressions,
        &Passes::fold_constants, &Passes::in_place, &Passes::fuse,
        &Passes::gradient_release, &Passes::reorder, &Passes::copy_again}) {
    sets.push_back(only(pass));
    sets.push_back(all_but(pass));
  }
  return sets;
}

constexpr int kRuns = 2;

void expect_kept(std::uint64_t seed, const Passes& passes, std::size_t set) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", set " << set);
  World eager(seed);
  World compiled(seed);
  const Many arguments = eager.arguments();
  compiled.arguments();
  Generator draws(11);
  Generator same_draws(11);
  const UseGenerator guard(same_draws);
  Program program = trace([&](In in, Many& out) { compiled.step(in, out); },
                          specs_of(arguments));
  EXPECT_EQ(fault_of(program), "");
  const EffectOrder order(program);
  run_passes(program, passes);
  EXPECT_EQ(fault_of(program), "");
  EXPECT_EQ(order.fault_of(program), "");
  for (int run = 0; run < kRuns; ++run) {
    const Many results = interpret(program, arguments);
    const UseGenerator own(draws);
    expect_same(
        run_eagerly([&](In in, Many& out) { eager.step(in, out); }, arguments),
        results);
    expect_same(eager.left(), compiled.left());
  }
}

TEST(PassesTest, EverySetOfPassesKeepsTheBits) {
  const memory::Vector<Passes> sets = all_sets();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (std::size_t set = 0; set < sets.size(); ++set) {
      expect_kept(seed, sets[set], set);
      if (HasFailure()) {
        return;
      }
    }
  }
}

// Without scratch, which hangs on the machine.
Bytes peak_of(Program& program) {
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    program.calls.change(i, [](Call& call) { call.scratch = 0; });
  }
  const Dataflow flow(program);
  const Memories memories(program, flow);
  Order order(program.calls.size());
  std::iota(order.begin(), order.end(), 0U);
  return Meter(program, flow, memories).measure(order).bytes;
}

// At the peak of a perceptron's step no more lives than what backward needs of
// the forward pass and the gradient that is being made.
TEST(PassesTest, APerceptronsPeakFalls) {
  constexpr std::array<std::int64_t, 4> kWidths = {784, 512, 256, 10};
  models::Mlp mlp(kWidths, {.dropout = 0.1});
  optim::SGD optimizer(mlp.parameters());
  const Many arguments{randn({64, 784}), zeros({64}, i64)};
  const auto step = [&](In in, Many& out) {
    const Tensor loss = cross_entropy(mlp.forward(in[0]), in[1]);
    backward(loss);
    optimizer.step();
    optimizer.zero_grad();  // no gradient is left
    out.push_back(loss);
  };
  Program plain = trace(step, specs_of(arguments));
  run_passes(plain, kNone);
  Program program = trace(step, specs_of(arguments));
  run_passes(program);
  constexpr Bytes kGradients = 4 * (784 * 512 + 512 * 256 + 256 * 10);
  EXPECT_GT(peak_of(plain), kGradients);
  constexpr Bytes kLargestGradient = 4 * 784 * 512;
  constexpr Bytes kItsCotangent = 4 * 64 * 512;
  EXPECT_EQ(peak_of(program),
            kLargestGradient + kItsCotangent + 64);  // and the loss
}

TEST(PassesTest, TakesProgramsOfManyCalls) {
  ProgramMaker maker;
  const ValueId w = maker.parameter({64});
  ValueId h = maker.argument({64});
  memory::Vector<ValueId> states;
  for (int i = 0; i < 5'000; ++i) {
    h = maker.call(ops::kAdd, {h, w});
    h = maker.call(ops::kExp, {h});
    states.push_back(h);
  }
  ValueId gradient = h;
  for (int i = 0; i < 5'000; ++i) {
    gradient = maker.call(ops::kMul, {gradient, states.back()});
    states.pop_back();
    maker.call(ops::kRelu, {gradient});
  }
  maker.update(w, gradient);
  run_passes(maker.program);
  std::size_t calls = 0;
  for (const Call& call : maker.program.calls) {
    calls += std::max(call.members.count, 1U);
  }
  EXPECT_EQ(calls, 15'001U);
  EXPECT_EQ(fault_of(maker.program), "");
}

}  // namespace
}  // namespace neap::compiler
