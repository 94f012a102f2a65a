// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Averages in compiled steps: the bits of eager ones.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/context.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adafactor.hpp"
#include "neap/optim/ema.hpp"
#include "neap/optim/muon.hpp"
#include "neap/optim/parameters_test.hpp"
#include "neap/optim/plateau.hpp"
#include "neap/tensor/create.hpp"

namespace neap::optim {
namespace {

// A model of two layers, trained by Muon or Adafactor, and its averages.
struct World {
  explicit World(bool by_muon) {
    if (by_muon) {
      auto muon =
          std::make_unique<Muon>(named({{"w", w}}), MuonOptions{.lr = 0.02});
      muon->add_group(named({{"b", b}}), {.lr = 0.01, .by_adam = true});
      optimizer = std::move(muon);
    } else {
      optimizer =
          std::make_unique<Adafactor>(list, AdafactorOptions{.lr = 0.1});
    }
    ema =
        std::make_unique<Ema>(list, EmaOptions{.decay = 0.9, .warm_up = true});
  }

  Tensor step(const Tensor& x, const Tensor& y) const {
    Tensor loss = mse_loss(add(matmul(x, w), b), y);
    backward(loss);
    optimizer->step();
    optimizer->zero_grad();
    ema->update();
    return loss;
  }

  Generator generator{3};
  UseGenerator use{generator};
  Tensor w = requires_grad_(randn({6, 5}));
  Tensor b = requires_grad_(zeros({5}));
  ParameterList list = named({{"w", w}, {"b", b}});
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Ema> ema;
};

void expect_same(const World& a, const World& b) {
  EXPECT_EQ(a.w.to_vector(), b.w.to_vector());
  EXPECT_EQ(a.b.to_vector(), b.b.to_vector());
  for (std::size_t i = 0; i < a.ema->averages().size(); ++i) {
    EXPECT_EQ(a.ema->averages()[i].tensor.to_vector(),
              b.ema->averages()[i].tensor.to_vector());
  }
  EXPECT_EQ(a.ema->update_count(), b.ema->update_count());
}

TEST(EmaProgramTest, HasTheBitsOfEagerSteps) {
  for (const bool by_muon : {false, true}) {
    const World eager(by_muon);
    const World compiled(by_muon);
    auto step = compile(
        [&](const Tensor& x, const Tensor& y) { return compiled.step(x, y); });
    Generator generator(8);
    const UseGenerator use(generator);
    for (int i = 0; i < 6; ++i) {
      const Tensor x = randn({4, 6});
      const Tensor y = randn({4, 5});
      EXPECT_EQ(step(x, y).item(), eager.step(x, y).item());
      expect_same(eager, compiled);
      if (i == 3) {  // an evaluation between two steps
        const UseAverages one(*eager.ema);
        const UseAverages other(*compiled.ema);
        expect_same(eager, compiled);
      }
    }
    EXPECT_EQ(step.programs(), 1);
    EXPECT_EQ(compiled.ema->update_count(), 6);
  }
}

TEST(EmaProgramTest, RefusesRunsWhileTheAveragesAreInPlace) {
  const World world(false);
  auto step = compile(
      [&](const Tensor& x, const Tensor& y) { return world.step(x, y); });
  const Tensor x = ones({4, 6});
  const Tensor y = ones({4, 5});
  step(x, y);
  const auto before = world.w.to_vector();
  {
    const UseAverages averaged(*world.ema);
    EXPECT_THROW(step(x, y), ValueError);
  }
  EXPECT_EQ(world.w.to_vector(), before);
  EXPECT_NO_THROW(step(x, y));
}

TEST(EmaProgramTest, RefusesASwapInsideAStep) {
  const World world(false);
  auto step = compile([&](const Tensor& x) {
    world.ema->swap();
    return x * 2.0;
  });
  EXPECT_THROW(step(ones({2})), TraceError);
  EXPECT_FALSE(world.ema->is_swapped());
}

TEST(EmaProgramTest, RefusesQuestionsThatAreAnsweredAnewInEachRun) {
  const World world(false);
  const ReduceOnPlateau plateau(*world.optimizer);
  const auto asks = [](const auto& question) {
    return [&question] {
      auto step = compile([&](const Tensor& x) {
        static_cast<void>(question());
        return x * 2.0;
      });
      step(ones({2}));
    };
  };
  const auto swapped = [&] { return world.ema->is_swapped(); };
  const auto count = [&] { return world.ema->update_count(); };
  const auto state = [&] { return plateau.state(); };
  EXPECT_THROW(asks(swapped)(), TraceError);
  EXPECT_THROW(asks(count)(), TraceError);
  EXPECT_THROW(asks(state)(), TraceError);
}

TEST(EmaProgramTest, ThePredictionKnowsTheAverages) {
  const Domain::Handle domain = Domain::create();
  const UseDomain use(*domain);
  const World world(true);
  auto step = compile(
      [&](const Tensor& x, const Tensor& y) { return world.step(x, y); });
  step.prepare({tensor::Spec{f32, {4, 6}}, tensor::Spec{f32, {4, 5}}});
  const auto said = step.prediction();
  const Bytes parameters = (6 * 5 + 5) * 4;
  const Bytes states = (6 * 5 + 2 * 5) * 4;
  EXPECT_GE(said.persistent, 2 * parameters + states);
  const Tensor x = randn({4, 6});
  const Tensor y = randn({4, 5});
  step(x, y);
  const std::int64_t before = domain->stats().allocations;
  step(x, y);
  EXPECT_EQ(domain->stats().allocations, before);
  EXPECT_EQ(step.measured().persistent, said.persistent);
}

}  // namespace
}  // namespace neap::optim
