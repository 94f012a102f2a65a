// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trainers whose steps run as plans: the same bits, and law 8.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "neap/compile/plan.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/nn/losses.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/print.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/small_training_test.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::train {
namespace {

// 20 samples in batches of 6: the last one of an epoch has 2.
struct Training {
  explicit Training(TrainerOptions options = {},
                    const memory::Domain::Options& door = {})
      : domain(memory::Domain::create(door)),
        trainer(net, adam, loader, std::move(options)) {}
  std::uint64_t hash() const { return state_hash(net, adam, generator); }

  memory::Domain::Handle domain;
  memory::UseDomain use{*domain};
  Generator generator{7};
  UseGenerator use_generator{generator};
  Sides data;
  Net net;
  optim::AdamW adam{net.parameters(), {.lr = 1e-2, .weight_decay = 1e-2}};
  data::Loader loader{data, {.batch = 6, .shuffle = true, .seed = 1}};
  Trainer trainer;
};

TrainerOptions options_with(bool compile) {
  TrainerOptions options;
  options.clip_norm = 0.5;
  options.learning_rate = optim::cosine(0.05, 12, 3);
  options.compile = compile;
  return options;
}

struct Trace {
  std::vector<std::uint64_t> hashes;
  std::vector<double> figures;  // of the reports
  bool operator==(const Trace&) const = default;
};

Trace run(const TrainerOptions& options, int steps) {
  Training training(options);
  Trace trace;
  for (int step = 0; step < steps; ++step) {
    const StepReport report = training.trainer.step();
    trace.hashes.push_back(training.hash());
    for (const double figure : {report.loss, report.accuracy,
                                report.learning_rate, report.gradient_norm}) {
      trace.figures.push_back(figure);
    }
  }
  return trace;
}

TEST(CompiledTrainerTest, LeavesTheBitsOfEagerStepsOverEpochs) {
  const Trace eager = run(options_with(false), 12);
  EXPECT_EQ(run(options_with(true), 12), eager);
  TrainerOptions plain;
  plain.compile = true;
  EXPECT_EQ(run(plain, 12), run({}, 12));
}

// Losses of two epochs whose batches are mixed: targets are probabilities.
std::vector<double> mixed_losses(bool compile, int prefetch) {
  Generator generator{7};
  const UseGenerator use_generator{generator};
  const Sides data;
  Net net;
  optim::AdamW adam{net.parameters(), {.lr = 1e-2}};
  data::Loader loader{data,
                      {.batch = 6,
                       .shuffle = true,
                       .seed = 1,
                       .prefetch = prefetch,
                       .mixup = {.alpha = 0.4, .classes = 2}}};
  Trainer trainer(net, adam, loader, options_with(compile));
  std::vector<double> losses;
  for (int step = 0; step < 8; ++step) {
    const StepReport report = trainer.step();
    EXPECT_TRUE(std::isnan(report.accuracy));
    losses.push_back(report.loss);
  }
  return losses;
}

TEST(CompiledTrainerTest, LeavesTheBitsOfEagerStepsOnMixedBatches) {
  const auto eager = mixed_losses(false, 0);
  EXPECT_GT(eager[0], 0.0);
  EXPECT_EQ(mixed_losses(true, 0), eager);
  EXPECT_EQ(mixed_losses(true, 2), eager);
}

TEST(CompiledTrainerTest, LeavesThemWithoutAnyPassAndWithPoison) {
  const Trace eager = run(options_with(false), 5);
  TrainerOptions options = options_with(true);
  options.compile_options.debug.poison = true;
  EXPECT_EQ(run(options, 5), eager);
  options.compile_options.debug = {.no_reuse = true};
  EXPECT_EQ(run(options, 5), eager);
  options.compile_options.debug = {};
  options.compile_options.passes = compiler::Passes::none();
  EXPECT_EQ(run(options, 5), eager);
}

TEST(CompiledTrainerTest, KeepsNothingOfASteadyStep) {
  Training training(options_with(true));
  EXPECT_EQ(training.trainer.arena_bytes(), 0);
  training.trainer.prepare();
  EXPECT_GT(training.trainer.arena_bytes(), 0);
  for (int step = 0; step < 4; ++step) {  // both sizes: handles of results
    training.trainer.step();
  }
  const Bytes live = training.domain->stats().live;
  for (int step = 0; step < 8; ++step) {
    training.trainer.step();
    EXPECT_EQ(training.domain->stats().live, live) << step;
  }
}

TEST(CompiledTrainerTest, ALossThatThrowsInItsTraceLeavesEverything) {
  bool is_armed = true;
  TrainerOptions options = options_with(true);
  options.loss = [&](const Tensor& output, const Tensor& target) {
    if (is_armed) {
      throw std::runtime_error("planned");
    }
    return nn::cross_entropy(output, target);
  };
  Training training(options);
  const std::uint64_t before = training.hash();
  EXPECT_THROW(training.trainer.step(), std::runtime_error);
  EXPECT_EQ(training.hash(), before);
  is_armed = false;
  EXPECT_EQ(training.trainer.step().step, 1);
  Training eager(options_with(false));
  eager.trainer.step();
  EXPECT_EQ(training.hash(), eager.hash());
}

TEST(CompiledTrainerTest, EveryRefusalLeavesEverythingAndNoGradient) {
  Training training(options_with(true));
  const std::uint64_t before = training.hash();
  int refused = 0;
  for (std::int64_t n = 1; n < 20'000; ++n) {
    training.domain->fail_at(n);
    try {
      training.trainer.step();
      break;
    } catch (const OutOfMemory&) {
      ++refused;
    }
    training.domain->fail_at(0);
    ASSERT_EQ(training.hash(), before) << n;
    ASSERT_EQ(training.adam.lr(), 1e-2) << n;
    for (const Parameter& parameter : training.net.parameters()) {
      ASSERT_FALSE(parameter.tensor.grad().defined()) << n;
    }
  }
  training.domain->fail_at(0);
  EXPECT_GT(refused, 20);
  Training eager(options_with(false));
  eager.trainer.step();
  EXPECT_EQ(training.hash(), eager.hash());
}

TEST(CompiledTrainerTest, ServesALossWithoutLabels) {
  const auto last_loss = [](bool compile) {
    Generator generator(3);
    const UseGenerator use(generator);
    const Sides data;
    Net net;
    optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
    data::Loader loader(data, {.batch = 20});
    TrainerOptions options;
    options.compile = compile;
    options.loss = [](const Tensor& output, const Tensor&) {
      return nn::mse_loss(output, zeros_like(output));
    };
    FitOptions fit_options;
    fit_options.steps = 5;
    fit_options.trainer = options;
    return fit(net, sgd, loader, fit_options).last_loss;
  };
  EXPECT_EQ(last_loss(true), last_loss(false));
}

TEST(CompiledTrainerTest, FitSaysWhenEverythingIsReady) {
  Training training;
  FitOptions options;
  options.steps = 2;
  options.trainer = options_with(true);
  int calls = 0;
  options.on_ready = [&](const Trainer& trainer) {
    EXPECT_TRUE(trainer.is_compiled());
    EXPECT_GT(trainer.arena_bytes(), 0);
    EXPECT_EQ(trainer.steps_done(), 0);
    ++calls;
  };
  fit(training.net, training.adam, training.loader, options);
  EXPECT_EQ(calls, 1);
}

TEST(CompiledTrainerTest, ShowsItsProgramAndPlan) {
  Training training(options_with(true));
  EXPECT_THROW(training.trainer.program(), ValueError);
  training.trainer.prepare();
  EXPECT_GT(training.trainer.program().calls.size(), 20U);
  EXPECT_LE(training.trainer.plan().arena_bytes(),
            training.trainer.arena_bytes());
  EXPECT_THROW(Training().trainer.plan(), ValueError);
}

// Steps without memory behind their tensors make the very same requests.
TEST(CompiledTrainerTest, ADryRunHasThePeakOfTheRun) {
  Training real(options_with(true), {.host = memory::HostAllocator::kPooled});
  Training rehearsed(options_with(true), {.is_rehearsal = true});
  for (Training* training : {&real, &rehearsed}) {
    const UseDomain use(*training->domain);
    for (int step = 0; step < 5; ++step) {
      training->trainer.step();
    }
  }
  const memory::Stats wanted = real.domain->stats();
  const memory::Stats found = rehearsed.domain->stats();
  EXPECT_EQ(found.peak, wanted.peak);
  EXPECT_EQ(rehearsed.trainer.program().calls.size(),
            real.trainer.program().calls.size());
  EXPECT_EQ(rehearsed.trainer.program().externals.size(),
            real.trainer.program().externals.size());
  EXPECT_EQ(rehearsed.trainer.arena_bytes(), real.trainer.arena_bytes());
  EXPECT_EQ(found.held, wanted.held);
}

TEST(CompiledTrainerTest, ADryRunHasNoElementsToRead) {
  Training training({}, {.is_rehearsal = true});
  EXPECT_THROW(training.hash(), TraceError);
  const Tensor scores = training.net(zeros({3, 2}));
  const Tensor labels = zeros({3}, i64);
  EXPECT_THROW(nn::accuracy(scores, labels), TraceError);
  EXPECT_THROW(format(scores), TraceError);
}

TEST(CompiledTrainerTest, EvaluatesWithTheSameBits) {
  Training training;
  training.trainer.step();
  const Evaluation eager = evaluate(training.net, training.loader);
  const Evaluation compiled =
      evaluate(training.net, training.loader, {.compile = true});
  EXPECT_EQ(compiled.loss, eager.loss);
  EXPECT_EQ(compiled.accuracy, eager.accuracy);
  EXPECT_EQ(compiled.samples, 20);
}

}  // namespace
}  // namespace neap::train
