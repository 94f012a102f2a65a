// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training steps as programs: interpreted and eager steps leave the same bits.
#include <gmock/gmock.h>

#include <functional>
#include <memory>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/compile/trace.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/clip.hpp"
#include "neap/optim/parameters_test.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/program/interpret.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::optim {
namespace {

using ::testing::ElementsAreArray;
using Many = memory::Vector<Tensor>;

constexpr int kSteps = 10;

// A small network with dropout, whose first weight serves twice; a parameter
// that nothing uses, and one that is frozen.
struct Net {
  Tensor weight = requires_grad_(randn({6, 6}));
  Tensor bias = requires_grad_(randn({6}));
  Tensor head = requires_grad_(randn({6, 3}));
  Tensor unused = requires_grad_(ones({4}));
  Tensor frozen = requires_grad_(requires_grad_(randn({6})), false);
  ParameterList all = named({{"weight", weight},
                             {"bias", bias},
                             {"head", head},
                             {"unused", unused},
                             {"frozen", frozen}});

  Tensor loss(const Tensor& x, const Tensor& labels) const {
    const Tensor hidden = dropout(relu(matmul(x, weight) + bias), 0.25);
    const Tensor again = matmul(hidden, transpose(weight, 0, 1)) * frozen;
    return cross_entropy(matmul(again, head), labels);
  }
};

using Make = std::function<std::unique_ptr<Optimizer>(const Net&)>;
/// The part of a step after its backward; gives a number to compare.
using Update = std::function<Tensor(const Net&, Optimizer&)>;

struct World {
  explicit World(const Make& make) : optimizer(make(net)) {}

  Many step(const Update& update, std::span<const Tensor> in) {
    const Tensor loss = net.loss(in[0], in[1]);
    backward(loss);
    Many out;
    out.push_back(loss);
    out.push_back(update(net, *optimizer));
    return out;
  }

  Generator generator{5};
  UseGenerator use{generator};
  Net net;
  std::unique_ptr<Optimizer> optimizer;
};

std::vector<double> numbers(const Tensor& tensor) {
  const auto all = tensor.to_vector();
  return {all.begin(), all.end()};
}

void expect_same_gradient(const Tensor& a, const Tensor& b, const char* name) {
  ASSERT_EQ(a.grad().defined(), b.grad().defined()) << name;
  if (a.grad().defined()) {
    EXPECT_EQ(numbers(a.grad()), numbers(b.grad())) << name;
  }
}

void expect_same(const World& a, const World& b) {
  for (std::size_t i = 0; i < a.net.all.size(); ++i) {
    const Parameter& mine = a.net.all[i];
    const Parameter& other = b.net.all[i];
    EXPECT_EQ(numbers(mine.tensor), numbers(other.tensor)) << mine.name.c_str();
    expect_same_gradient(mine.tensor, other.tensor, mine.name.c_str());
  }
  std::vector<std::vector<double>> states;
  a.optimizer->visit_state([&](std::string_view, const Tensor& state) {
    states.push_back(numbers(state));
  });
  std::size_t at = 0;
  b.optimizer->visit_state([&](std::string_view name, const Tensor& state) {
    ASSERT_LT(at, states.size());
    EXPECT_EQ(numbers(state), states[at++]) << name;
  });
  EXPECT_EQ(at, states.size());
  EXPECT_EQ(a.optimizer->step_count(), b.optimizer->step_count());
  EXPECT_EQ(a.optimizer->lr(), b.optimizer->lr());
  EXPECT_EQ(a.generator.state().draw, b.generator.state().draw);
}

Many batch(int step) {
  Generator generator(static_cast<std::uint64_t>(100 + step));
  const UseGenerator use(generator);
  Many out;
  out.push_back(randn({4, 6}));
  out.push_back(randint(0, 3, {4}));
  return out;
}

class ProgramTest : public DoorTest {
 protected:
  // Ten steps of each way; `warm`: eager ones before the trace.
  void expect_same_steps(const Make& make, const Update& update, int warm = 0) {
    expect_interpreted(make, update, warm);
    if (!HasFailure()) {
      expect_compiled(make, update, warm);
    }
  }

  void expect_interpreted(const Make& make, const Update& update, int warm) {
    World eager(make);
    World traced(make);
    run_both(eager, traced, update, warm);
    const UseGenerator use(traced.generator);
    const Many example = batch(0);
    const compiler::Program program =
        compiler::trace([&](std::span<const Tensor> in,
                            Many& out) { out = traced.step(update, in); },
                        std::array{example[0].spec(), example[1].spec()});
    for (int step = warm; step < kSteps && !HasFailure(); ++step) {
      const Many wanted = run(eager, update, step);
      const UseGenerator again(traced.generator);
      expect_results(compiler::interpret(program, batch(step)), wanted);
      expect_same(traced, eager);
    }
  }

  void expect_compiled(const Make& make, const Update& update, int warm) {
    World eager(make);
    World planned(make);
    run_both(eager, planned, update, warm);
    auto compiled = compile([&](const Tensor& x, const Tensor& labels) {
      const std::array in{x, labels};
      return planned.step(update, in);
    });
    for (int step = warm; step < kSteps && !HasFailure(); ++step) {
      const Many wanted = run(eager, update, step);
      const UseGenerator use(planned.generator);
      const Many in = batch(step);
      expect_results(compiled(in[0], in[1]), wanted);
      expect_same(planned, eager);
    }
    EXPECT_EQ(compiled.programs(), 1);
  }

 private:
  static void run_both(World& a, World& b, const Update& update, int steps) {
    for (int step = 0; step < steps; ++step) {
      run(a, update, step);
      run(b, update, step);
    }
  }
  static void expect_results(const Many& found, const Many& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(numbers(found[i]), numbers(wanted[i])) << i;
    }
  }
  static Many run(World& world, const Update& update, int step) {
    const UseGenerator use(world.generator);
    return world.step(update, batch(step));
  }
};

Make adamw() {
  return [](const Net& net) {
    auto adam = std::make_unique<AdamW>(
        net.all, AdamOptions{.lr = 0.1, .weight_decay = 0.05});
    adam->set_schedule(warm_up(0.1, 4));
    return adam;
  };
}

Make momentum() {
  return [](const Net& net) {
    return std::make_unique<SGD>(
        net.all, SGDOptions{.lr = 0.05, .momentum = 0.9, .dampening = 0.5});
  };
}

Tensor clip_and_step(const Net& net, Optimizer& optimizer) {
  Tensor norm = clip_grad_norm(net.all, 0.5);
  optimizer.step();
  optimizer.zero_grad();
  return norm;
}

TEST_F(ProgramTest, AdamWWithWarmUpClippingDropoutAndATiedWeight) {
  expect_same_steps(adamw(), clip_and_step);
}

TEST_F(ProgramTest, MomentumFromItsFirstStep) {
  expect_same_steps(momentum(), clip_and_step);
}

TEST_F(ProgramTest, AProgramTakesOverInTheMiddle) {
  expect_same_steps(adamw(), clip_and_step, 3);
  expect_same_steps(momentum(), clip_and_step, 3);
}

TEST_F(ProgramTest, GradientsMayBeReleasedByTheStep) {
  expect_same_steps(momentum(), [](const Net&, Optimizer& optimizer) {
    optimizer.step({.grad_scale = 0.5, .release_gradients = true});
    return scalar(0.0);
  });
}

TEST_F(ProgramTest, GradientsMayBeLeftAndReplaced) {
  expect_same_steps(adamw(), [](const Net& net, Optimizer& optimizer) {
    clip_grad_value(net.all, 0.01);
    optimizer.step();
    const Tensor kept = net.head.grad();
    optimizer.zero_grad();
    set_grad(net.head, kept * 0.5);
    set_grad(net.head, Tensor());
    return sum(kept);
  });
}

TEST_F(ProgramTest, TwoGroupsHaveTheirOwnRates) {
  expect_same_steps(
      [](const Net& net) {
        auto sgd = std::make_unique<SGD>(named({{"head", net.head}}),
                                         SGDOptions{.lr = 0.5});
        sgd->add_group(named({{"weight", net.weight}, {"bias", net.bias}}),
                       {.lr = 0.1, .momentum = 0.9, .nesterov = true});
        sgd->set_schedule(0, exponential(0.5, 0.9));
        return sgd;
      },
      clip_and_step);
}

TEST_F(ProgramTest, TheOptimizersOptionsMayChangeBetweenRuns) {
  World eager(momentum());
  World traced(momentum());
  const Many example = batch(0);
  const compiler::Program program =
      compiler::trace([&](std::span<const Tensor> in,
                          Many& out) { out = traced.step(clip_and_step, in); },
                      std::array{example[0].spec(), example[1].spec()});
  for (int step = 0; step < 4; ++step) {
    for (World* world : {&eager, &traced}) {
      world->optimizer->set_lr(0.1 / (1 + step));
    }
    {
      const UseGenerator use(eager.generator);
      eager.step(clip_and_step, batch(step));
    }
    const UseGenerator use(traced.generator);
    compiler::interpret(program, batch(step));
    expect_same(traced, eager);
  }
}

TEST_F(ProgramTest, ANormThatIsNotFiniteIsRefusedBeforeAnyWrite) {
  const Tensor a = parameter({1, 2});
  SGD sgd(named({{"a", a}}), {.lr = 0.5});
  const compiler::Program program = compiler::trace(
      [&](std::span<const Tensor> in, Many& out) {
        backward(sum(a * in[0]));
        out.push_back(clip_grad_norm(sgd.parameters(), 1.0,
                                     {.throw_if_not_finite = true}));
        sgd.step();
        sgd.zero_grad();
      },
      std::array{tensor::Spec{f32, {2}}});
  Many arguments;
  arguments.push_back(from_values({INFINITY, 1}, {2}));
  EXPECT_THROW(compiler::interpret(program, arguments), ValueError);
  EXPECT_THAT(numbers(a), ElementsAreArray({1.0, 2.0}));
  EXPECT_EQ(sgd.step_count(), 0);
  arguments[0] = ones({2});
  compiler::interpret(program, arguments);
  EXPECT_EQ(sgd.step_count(), 1);
}

TEST_F(ProgramTest, WritesIntoStateOfTheUsersAreDoneInEachRun) {
  const Tensor mean = zeros({3});
  const Tensor count = zeros({});
  const compiler::Program program = compiler::trace(
      [&](std::span<const Tensor> in, Many& out) {
        const NoGrad guard;
        add_(count, 1.0);
        copy_(mean, mean + (in[0] - mean) / count);
        fill_(slice(mean, 0, 2, 3), 7.0);
        out.push_back(mean * 1.0);
      },
      std::array{tensor::Spec{f32, {3}}});
  EXPECT_THAT(numbers(mean), ElementsAreArray({0.0, 0.0, 0.0}));
  for (int run = 0; run < 3; ++run) {
    Many arguments;
    arguments.push_back(full({3}, run));
    const Many found = compiler::interpret(program, arguments);
    EXPECT_EQ(numbers(found[0]), numbers(mean));
  }
  EXPECT_EQ(numbers(count)[0], 3.0);
  EXPECT_THAT(numbers(mean), ElementsAreArray({1.0, 1.0, 7.0}));
}

}  // namespace
}  // namespace neap::optim
