// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows A2, A7, N1, N3, N4 and N6: a step as a plan, its memory known before it
// runs.
#include <array>
#include <thread>

#include "support.hpp"
#include "support/counting_malloc.hpp"

namespace neap::four_systems {
namespace {

constexpr std::array<std::int64_t, 4> kWidths{32, 48, 24, 5};

// A classifier that learns, in a domain of its own.
struct Learner {
  explicit Learner(const Domain::Options& options = {})
      : domain(Domain::create(options)) {}
  Tensor step(const Tensor& x, const Tensor& labels) {
    Tensor loss = cross_entropy(model(x), labels);
    backward(loss);
    adam.step();
    adam.zero_grad();
    return loss;
  }
  auto compiled(const CompileOptions& options = {}) {
    return neap::compile(
        [this](const Tensor& x, const Tensor& labels) {
          return step(x, labels);
        },
        options);
  }
  static std::array<tensor::Spec, 2> specs(std::int64_t batch) {
    return {tensor::Spec{f32, {batch, kWidths.front()}},
            tensor::Spec{i64, {batch}}};
  }

  Domain::Handle domain;
  UseDomain use{*domain};
  Generator generator{5};
  UseGenerator use_generator{generator};
  models::Mlp model{kWidths, {.dropout = 0.25}};
  optim::AdamW adam{model.parameters()};
};

struct Batch {
  explicit Batch(std::int64_t size, std::uint64_t seed = 1) {
    Generator generator(seed);
    const UseGenerator use(generator);
    x = randn({size, kWidths.front()});
    labels = randint(0, kWidths.back(), {size});
  }
  Tensor x;
  Tensor labels;
};

// --- A2: sizes from the largest batch, before anything runs -----------------

CompileOptions up_to_64() {
  CompileOptions options;
  options.max_batch = 64;
  return options;
}

TEST(FourSystemsTest, OneArenaForTheLargestBatchIsThereBeforeAnythingRuns_A2) {
  Learner learner;
  auto step = learner.compiled(up_to_64());
  step.prepare(Learner::specs(64));
  const Bytes arena = step.arena_bytes();
  EXPECT_GT(arena, 64 * 24 * 4);
  EXPECT_EQ(learner.adam.step_count(), 0);
  for (const std::int64_t size : {64, 1, 7, 64}) {
    const Batch batch(size);
    step(batch.x, batch.labels);
    EXPECT_EQ(step.arena_bytes(), arena) << size;
  }
}

TEST(FourSystemsTest, ASmallerBatchIsTracedOnceAndThenAsksNobody_A2) {
  Learner learner;
  auto step = learner.compiled(up_to_64());
  const Batch large(64);
  const Batch small(7);
  step(large.x, large.labels);
  const std::int64_t traces = step.traces();
  step(small.x, small.labels);
  EXPECT_EQ(step.traces(), traces + 1);
  const std::int64_t requests = learner.domain->requests();
  support::reset_outside_calls();
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    sum += step(small.x, small.labels).item();
  }
  EXPECT_EQ(support::outside_stats().heap_calls, 0);
  EXPECT_EQ(learner.domain->requests(), requests);
  EXPECT_EQ(step.traces(), traces + 1);
  EXPECT_GT(sum, 0);
}

TEST(FourSystemsTest, SizesAskedForAheadAreTracedAhead_A2) {
  Learner learner;
  CompileOptions options = up_to_64();
  for (const std::int64_t size : {1, 7}) {
    options.warm.push_back(size);
  }
  auto step = learner.compiled(options);
  step.prepare(Learner::specs(64));
  EXPECT_EQ(step.traces(), 3);
  for (const std::int64_t size : {1, 7, 64}) {
    const Batch batch(size);
    step(batch.x, batch.labels);
  }
  EXPECT_EQ(step.traces(), 3);
}

TEST(FourSystemsTest, WhatDoesNotFitIsATypedErrorAndNothingHasChanged_A2) {
  Learner learner;
  auto step = learner.compiled(up_to_64());
  const Batch fits(64);
  const Batch large(65);
  step(fits.x, fits.labels);
  const auto hash = [&] {
    return train::state_hash(learner.model, learner.adam, learner.generator);
  };
  const std::uint64_t before = hash();
  EXPECT_THAT(refusal<PlanError>([&] { step(large.x, large.labels); }),
              HasSubstr("max_batch is 64"));
  EXPECT_EQ(hash(), before);
  alignas(64) std::array<std::byte, 512> room{};
  CompileOptions options;
  options.memory = room;
  auto cramped = learner.compiled(options);
  EXPECT_THROW(cramped(fits.x, fits.labels), PlanError);
  EXPECT_EQ(hash(), before);
  step(fits.x, fits.labels);
  EXPECT_NE(hash(), before);
}

// --- A7: shapes and scratch are facts ---------------------------------------

TEST(FourSystemsTest, ScratchIsAFactThatThePlanHasRoomFor_A7) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  auto step = neap::compile(
      [](const Tensor& a, const Tensor& b) { return matmul(a, b); });
  step.prepare({tensor::Spec{f32, {96, 200}}, tensor::Spec{f32, {200, 80}}});
  Bytes scratch = 0;
  for (const compiler::Call& call : step.program().calls) {
    scratch += call.scratch;
  }
  EXPECT_GT(scratch, 0);
  EXPECT_GE(step.arena_bytes(), scratch + 96 * 80 * 4);
  const Tensor a = randn({96, 200});
  const Tensor b = randn({200, 80});
  step(a, b);
  domain->reset_peak();
  const Bytes before = domain->stats().live;
  step(a, b);
  EXPECT_EQ(domain->stats().live_peak, before);  // none was asked for
}

// --- N1: the peak of a step, exact, before the first one --------------------

// Statistics of a program up to the first step, or after some steps.
memory::Stats stats_of(bool is_rehearsal, int steps) {
  Learner learner(
      {.host = memory::HostAllocator::kPooled, .is_rehearsal = is_rehearsal});
  auto step = learner.compiled();
  const Batch batch(64);
  step.prepare(Learner::specs(64));
  for (int i = 0; i < steps; ++i) {
    step(batch.x, batch.labels).item();
  }
  return learner.domain->stats();
}

TEST(FourSystemsTest, ThePeakIsKnownToTheByteBeforeTheFirstStep_N1) {
  const memory::Stats measured = stats_of(false, 5);
  EXPECT_EQ(stats_of(false, 0).peak, measured.peak);
  // The peak is known even before any tensor has memory.
  EXPECT_EQ(stats_of(true, 0).peak, measured.peak);
}

TEST(FourSystemsTest, ThePeakIsSaidByCategoryByLayerAndWithItsInstant_N1) {
  Learner learner({.is_rehearsal = true});
  const compiler::Lowered lowered =
      neap::lower([&](const Tensor& x,
                      const Tensor& labels) { return learner.step(x, labels); },
                  Learner::specs(64));
  const compiler::Prediction told = predict(lowered.program, lowered.plan);
  EXPECT_EQ(told.peak_of(memory::Category::kParameters),
            learner.model.parameter_bytes());
  EXPECT_EQ(told.peak_of(memory::Category::kOptimizerState),
            2 * learner.model.parameter_bytes());
  Bytes parts = 0;
  std::vector<std::string> layers;
  for (const compiler::LayerBytes& layer : told.by_layer) {
    parts += layer.persistent + layer.at_peak;
    layers.emplace_back(layer.layer);
  }
  EXPECT_EQ(parts, told.persistent + told.live_at_peak);
  EXPECT_THAT(layers, ::testing::IsSupersetOf({"fc1", "fc2", "fc3"}));
  EXPECT_FALSE(told.peak_op.empty());
  EXPECT_THAT(std::string(base::site_of(told.peak_site).file),
              HasSubstr("compile_test.cpp"));
}

// --- N3: a bound and a proof beside every plan ------------------------------

TEST(FourSystemsTest, ABoundIsPrintedBesideEveryPlanAndProven_N3) {
  Learner learner({.is_rehearsal = true});
  auto step = learner.compiled();
  for (const std::int64_t batch : {1, 7, 64, 1000}) {
    step.prepare(Learner::specs(batch));
    const compiler::Prediction told = predict(step.program(), step.plan());
    EXPECT_GT(told.lower_bound, 0);
    EXPECT_EQ(told.gap(), told.arena - told.lower_bound);
    EXPECT_TRUE(told.is_proven) << batch;
    EXPECT_THAT(std::string(format(told)),
                HasSubstr("a gap of 0 B, the least there is"));
  }
}

// --- N4: no heap call, on any thread ----------------------------------------

TEST(FourSystemsTest, NoHeapCallAStepOnAnyThread_N4) {
  Learner learner;
  auto step = learner.compiled();
  const Batch batch(64);
  const auto heap_calls = [&] {
    for (int i = 0; i < 2; ++i) {
      step(batch.x, batch.labels).item();
    }
    support::reset_outside_calls();
    for (int i = 0; i < 10; ++i) {
      step(batch.x, batch.labels).item();
    }
    return support::outside_stats().heap_calls;
  };
  EXPECT_EQ(heap_calls(), 0);
  std::int64_t there = -1;
  const memory::Context mine = memory::context();
  std::thread([&] {
    const memory::ContextGuard same([&](memory::Context& c) { c = mine; });
    there = heap_calls();
  }).join();
  EXPECT_EQ(there, 0);
}

// --- N6: the same bits under every plan -------------------------------------

std::uint64_t learnt(const CompileOptions* how) {
  Learner learner;
  const auto train = [&](auto&& step) {
    for (std::uint64_t i = 0; i < 6; ++i) {
      const Batch batch(7, i);
      step(batch.x, batch.labels);
    }
  };
  if (how == nullptr) {
    train([&](const Tensor& x, const Tensor& y) { learner.step(x, y); });
  } else {
    train(learner.compiled(*how));
  }
  return train::state_hash(learner.model, learner.adam, learner.generator);
}

TEST(FourSystemsTest, TheSameBitsUnderEveryPlan_N6) {
  const std::uint64_t eager = learnt(nullptr);
  const CompileOptions usual;
  const CompileOptions largest = up_to_64();
  CompileOptions apart;
  apart.debug.no_reuse = true;
  CompileOptions plain;
  plain.passes = compiler::Passes::none();
  CompileOptions hasty;
  hasty.planner.work = 1;
  for (const CompileOptions& how : {usual, apart, plain, hasty, largest}) {
    EXPECT_EQ(learnt(&how), eager);
  }
}

}  // namespace
}  // namespace neap::four_systems
