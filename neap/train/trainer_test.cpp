// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/trainer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "neap/graph/vertex.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/losses.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/small_training_test.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::train {
namespace {

// Sample i is the pair (i, 1); its target is 2 i + 1.
struct Line {
  std::int64_t size() const { return 8; }
  data::SampleSpec spec() const { return {{2}, f32, {1}, f32}; }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const std::array<float, 2> x = {static_cast<float>(index), 1.0F};
    const float y = 2.0F * x[0] + 1.0F;
    std::memcpy(input.data(), x.data(), sizeof(x));
    std::memcpy(target.data(), &y, sizeof(y));
  }
};

class TrainerTest : public ::testing::Test {
 protected:
  std::uint64_t hash() const { return state_hash(net_, adam_, generator_); }

  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
  Sides data_;
  Net net_;
  optim::Adam adam_{net_.parameters(), {.lr = 1e-2}};
  data::Loader loader_{data_, {.batch = 6, .shuffle = true, .seed = 1}};
};

TEST_F(TrainerTest, AStepThatThrowsLeavesEverythingAsBefore) {
  bool is_armed = false;
  TrainerOptions options;
  options.clip_norm = 1.0;
  options.learning_rate = [](std::int64_t step) {
    return 0.5 / static_cast<double>(step + 1);
  };
  options.loss = [&](const Tensor& output, const Tensor& target) {
    if (is_armed) {
      throw std::runtime_error("planned");
    }
    return nn::cross_entropy(output, target);
  };
  Trainer trainer(net_, adam_, loader_, options);
  trainer.step();
  const std::uint64_t before = hash();
  is_armed = true;
  EXPECT_THROW(trainer.step(), std::runtime_error);
  EXPECT_EQ(hash(), before);
  EXPECT_EQ(trainer.steps_done(), 1);
  is_armed = false;
  EXPECT_EQ(trainer.step().step, 2);
  EXPECT_NE(hash(), before);
}

struct NormedNet : nn::Layer {
  nn::Linear hidden{2, 8};
  nn::BatchNorm1d norm{8};
  nn::Linear out{8, 2};

  NormedNet() {
    register_module("hidden", hidden);
    register_module("norm", norm);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) const override {
    return out(norm(hidden(x)));
  }
};

// Its running values were moved by the time that the loss throws.
TEST_F(TrainerTest, AStepThatThrowsPutsBuffersBack) {
  NormedNet net;
  optim::Adam adam(net.parameters(), {.lr = 1e-2});
  bool is_armed = false;
  TrainerOptions options;
  options.loss = [&](const Tensor& output, const Tensor& target) {
    if (is_armed) {
      throw std::runtime_error("planned");
    }
    return nn::cross_entropy(output, target);
  };
  Trainer trainer(net, adam, loader_, options);
  trainer.step();
  const double mean = net.norm.running_mean().at({0});
  const std::uint64_t before = state_hash(net, adam, generator_);
  is_armed = true;
  EXPECT_THROW(trainer.step(), std::runtime_error);
  EXPECT_EQ(state_hash(net, adam, generator_), before);
  is_armed = false;
  trainer.step();
  EXPECT_NE(net.norm.running_mean().at({0}), mean);
  EXPECT_EQ(net.norm.num_batches_tracked().item(), 2);
}

// Compiled or not, and several batches of two sizes.
TEST_F(TrainerTest, StatisticsOfBatchesAreTheSameBitsInAPlan) {
  const auto run = [&](bool is_compiled) {
    Generator generator(5);
    const UseGenerator use(generator);
    NormedNet net;
    optim::Adam adam(net.parameters(), {.lr = 1e-2});
    data::Loader loader(data_, {.batch = 6, .shuffle = true, .seed = 1});
    Trainer trainer(net, adam, loader, {.compile = is_compiled});
    for (int step = 0; step < 9; ++step) {
      trainer.step();
    }
    EXPECT_EQ(net.norm.num_batches_tracked().item(), 9);
    return state_hash(net, adam, generator);
  };
  EXPECT_EQ(run(true), run(false));
}

// Every request of the first step, the optimizer's own among them, is refused
// once: by then the schedule may have set a rate.
TEST_F(TrainerTest, EveryRefusalInAStepPutsRatesBackAndLeavesNoGradient) {
  TrainerOptions options;
  options.learning_rate = [](std::int64_t) { return 0.5; };
  Trainer trainer(net_, adam_, loader_, options);
  const std::uint64_t before = hash();
  int refused = 0;
  for (std::int64_t n = 1; n < 1000; ++n) {
    domain_->fail_at(n);
    try {
      trainer.step();
      break;
    } catch (const OutOfMemory&) {
      ++refused;
    }
    domain_->fail_at(0);
    EXPECT_EQ(adam_.lr(), 1e-2) << n;
    EXPECT_EQ(hash(), before) << n;
    for (const Parameter& parameter : net_.parameters()) {
      EXPECT_FALSE(parameter.tensor.grad().defined()) << n;
    }
  }
  domain_->fail_at(0);
  EXPECT_GT(refused, 10);
  EXPECT_EQ(adam_.lr(), 0.5);
}

TEST_F(TrainerTest, AStepBeginsWithoutGradientsOfOthers) {
  const auto step_of = [&](bool has_gradients) {
    Generator generator(3);
    const UseGenerator use(generator);
    Net net;
    optim::SGD sgd(net.parameters(), {.lr = 0.1});
    data::Loader loader(data_, {.batch = 20});
    Trainer trainer(net, sgd, loader);
    if (has_gradients) {
      for (const Parameter& parameter : net.parameters()) {
        set_grad(parameter.tensor, ones(parameter.tensor.shape()));
      }
    }
    trainer.step();
    return state_hash(net, sgd, generator);
  };
  EXPECT_EQ(step_of(true), step_of(false));
}

TEST_F(TrainerTest, AScheduleSetsTheRateOfAllGroups) {
  optim::SGD sgd(net_.hidden.parameters(), {.lr = 0.1});
  sgd.add_group(net_.out.parameters(), {.lr = 0.2});
  Trainer trainer(net_, sgd, loader_,
                  {.learning_rate = [](std::int64_t) { return 0.3; }});
  trainer.step();
  EXPECT_EQ(sgd.lr(0), 0.3);
  EXPECT_EQ(sgd.lr(1), 0.3);
}

TEST_F(TrainerTest, RefusesADataSetWithoutABatch) {
  data::Loader loader(data_, {.batch = 64, .drop_last = true});
  EXPECT_THROW(Trainer(net_, adam_, loader), ValueError);
}

TEST_F(TrainerTest, RefusesAStageOfZeroThatThereIsNot) {
  EXPECT_THROW(Trainer(net_, adam_, loader_, {.zero = 2}), ValueError);
  const Trainer alone(net_, adam_, loader_, {.zero = 1});
  EXPECT_FALSE(adam_.is_shared_out());
}

TEST_F(TrainerTest, FitRunsItsEpochsAndStopsWhereItsCallbackSaysSo) {
  FitOptions options;
  options.epochs = 2;
  FitResult result = fit(net_, adam_, loader_, options);
  EXPECT_EQ(result.steps, 8);
  EXPECT_FALSE(result.is_stopped);
  options.on_step = [](const StepReport& report) {
    EXPECT_EQ(report.steps, 8);
    EXPECT_EQ(report.epochs, 2);
    return report.step == 3 ? Next::kStop : Next::kContinue;
  };
  result = fit(net_, adam_, loader_, options);
  EXPECT_EQ(result.steps, 3);
  EXPECT_TRUE(result.is_stopped);
}

TEST_F(TrainerTest, FitAndEvaluatePutEveryModulesModeBack) {
  net_.train();
  net_.hidden.eval();
  evaluate(net_, loader_);
  EXPECT_TRUE(net_.is_training());
  EXPECT_TRUE(net_.dropout.is_training());
  EXPECT_FALSE(net_.hidden.is_training());
  net_.eval();
  net_.dropout.train();
  FitOptions options;
  options.steps = 1;
  options.on_step = [&](const StepReport&) {
    EXPECT_TRUE(net_.hidden.is_training());
    return Next::kContinue;
  };
  fit(net_, adam_, loader_, options);
  EXPECT_FALSE(net_.is_training());
  EXPECT_FALSE(net_.hidden.is_training());
  EXPECT_TRUE(net_.dropout.is_training());
}

TEST_F(TrainerTest, EvaluateWeighsBatchesByTheirSamples) {
  data::Loader whole(data_, {.batch = 20});
  const Evaluation parts = evaluate(net_, loader_);
  const Evaluation once = evaluate(net_, whole);
  EXPECT_EQ(parts.samples, 20);
  EXPECT_NEAR(parts.loss, once.loss, 1e-6);
  EXPECT_NEAR(parts.accuracy, once.accuracy, 1e-12);
}

TEST_F(TrainerTest, ALossOfTheUsersServesRegression) {
  const Line line;
  nn::Linear model(2, 1);
  optim::Adam adam(model.parameters(), {.lr = 0.1});
  data::Loader loader(line, {.batch = 8});
  const Loss loss = [](const Tensor& output, const Tensor& target) {
    return nn::mse_loss(output, target);
  };
  FitOptions options;
  options.epochs = 400;
  options.trainer.loss = loss;
  const FitResult result = fit(model, adam, loader, options);
  const Evaluation found = evaluate(model, loader, {.loss = loss});
  EXPECT_LT(found.loss, 1e-2);
  EXPECT_LT(result.last_loss, 1e-2);
  EXPECT_TRUE(std::isnan(found.accuracy));
}

TEST_F(TrainerTest, TheStateHashChangesWithEveryPartOfTheState) {
  Trainer(net_, adam_, loader_).step();
  const std::uint64_t before = hash();
  EXPECT_EQ(hash(), before);
  const auto expect_seen = [&](std::string_view name, const Tensor& tensor) {
    auto* element = reinterpret_cast<float*>(tensor.array()->strided().data);
    const float old = *element;
    *element = old + 1.0F;
    EXPECT_NE(hash(), before) << name;
    *element = old;
    EXPECT_EQ(hash(), before) << name;
  };
  for (const Parameter& parameter : net_.parameters()) {
    expect_seen(parameter.name, parameter.tensor);
  }
  expect_seen("scale", net_.scale);
  int states = 0;
  adam_.visit_state([&](std::string_view name, const Tensor& tensor) {
    expect_seen(name, tensor);
    ++states;
  });
  EXPECT_EQ(states, 8);
  const base::DrawKey random_state = generator_.state();
  base::DrawKey other = random_state;
  ++other.draw;
  generator_.set_state(other);
  EXPECT_NE(hash(), before);
  generator_.set_state(random_state);
  adam_.step();  // no gradients: nothing but the count of steps changes
  EXPECT_NE(hash(), before);
}

}  // namespace
}  // namespace neap::train
