// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// An optimizer's state is in a file between the runs of a step that a budget
// leaves no memory for it, and nobody sees a difference.
#include <gmock/gmock.h>

#include "neap/base/error.hpp"
#include "neap/compile/away_for_test.hpp"
#include "neap/compile/state_file.hpp"
#include "neap/program/print.hpp"

namespace neap::compiler {
namespace {

using testing::HasSubstr;

struct Trained {
  std::vector<double> losses;
  Rows weights;
  Rows moments;
  std::int64_t steps = 0;
  Fitting fitting{};
  int away = 0;
};

Trained train(AwayNet& net, const CompileOptions& options) {
  Trained out;
  auto step = net.compiled(options);
  for (int i = 0; i < 4; ++i) {
    out.losses.push_back(net.run(step));
  }
  out.fitting = step.program().fitting;
  out.away = net.away();
  out.weights = net.values();
  out.moments = net.moments();
  out.steps = net.adam->step_count();
  return out;
}

Trained train_whole() {
  AwayNet net;
  return train(net, {});
}

void expect_same(const Trained& some, const Trained& whole) {
  EXPECT_EQ(some.losses, whole.losses);
  EXPECT_EQ(some.weights, whole.weights);
  EXPECT_EQ(some.moments, whole.moments);
  EXPECT_EQ(some.steps, whole.steps);
}

TEST_F(AwayTest, TheSameBitsAtEveryBudget) {
  const Trained whole = train_whole();
  std::int64_t extra = 0;
  std::uint32_t most = 0;
  for (int kib = 3400; kib >= 1400; kib -= 400) {
    AwayNet net;
    const Trained some = train(net, within(net, kib * kKiB));
    SCOPED_TRACE(kib);
    expect_same(some, whole);
    EXPECT_EQ(some.away, static_cast<int>(some.fitting.away));
    EXPECT_GE(some.fitting.extra, extra);  // never falls
    EXPECT_LE(some.fitting.bound, some.fitting.extra);
    EXPECT_LE(some.fitting.stalls, some.fitting.extra);
    extra = some.fitting.extra;
    most = std::max(most, some.fitting.away);
  }
  EXPECT_EQ(most, AwayNet::kMoments);
}

// A rule of a custom op may hold a moment that the trace does not know.
TEST_F(AwayTest, ARunThatLooksAtAStateOfItsFileIsRefusedAndDoesNotWait) {
  const auto file = StateFile::create(files::system_door(), folder.path(),
                                      memory::domain(), kKiB);
  const Tensor state = arange(1000);
  tensor::Storage& storage = *state.array()->storage();
  file->take(storage);
  {
    const StateFile::Running run(*file);
    EXPECT_THROW(state.at({7}), ValueError);
    EXPECT_TRUE(storage.is_away());
  }
  EXPECT_EQ(state.at({7}), 7.0);
}

TEST_F(AwayTest, WithRoomForItStateStaysInMemory) {
  AwayNet net;
  const Trained some = train(net, within(net, 64 * kMiB));
  EXPECT_EQ(some.fitting.away, 0U);
  EXPECT_EQ(some.away, 0);
}

TEST_F(AwayTest, ThePredictionSaysIt) {
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  const AwayNet::Here here(net);
  step.prepare({tensor::Spec{f32, {16, AwayNet::kWidth}}});
  const Prediction prediction = step.prediction();
  EXPECT_EQ(prediction.fitting.away, AwayNet::kMoments);
  EXPECT_EQ(prediction.fitting.away_bytes, AwayNet::kState);
  EXPECT_GE(prediction.fitting.written, AwayNet::kState);
  EXPECT_GE(prediction.fitting.file, AwayNet::kState);
  EXPECT_EQ(prediction.persistent_by_category[static_cast<std::size_t>(
                memory::Category::kOptimizerState)],
            0);
  EXPECT_THAT(std::string(format(prediction)),
              HasSubstr("16 states in a file"));
  EXPECT_THAT(std::string(print(step.program())), HasSubstr("fetch state 0"));
}

TEST_F(AwayTest, AWearThatIsBoundedIsKept) {
  AwayNet net;
  CompileOptions options = within(net, kTight);
  options.spill.most_written = AwayNet::kState / 4;
  auto step = net.compiled(options);
  EXPECT_THROW(net.run(step), PlanError);
  EXPECT_EQ(net.adam->step_count(), 0);
}

TEST_F(AwayTest, AStepThatMayNotIsRefused) {
  AwayNet net;
  CompileOptions options = within(net, kTight);
  options.spill.states = false;
  options.spill.weights = false;
  auto step = net.compiled(options);
  EXPECT_THROW(net.run(step), Error);
}

TEST_F(AwayTest, InEveryKindOfRun) {
  const Trained whole = train_whole();
  alignas(4096) static std::array<std::byte, 1 << 20> block;
  const auto expect_same_with = [&](const auto& change) {
    AwayNet net;
    CompileOptions options = within(net, 2 * kTight);
    change(options);
    options.budget = within(net, kTight).budget;
    expect_same(train(net, options), whole);
  };
  expect_same_with([](CompileOptions& o) { o.debug.poison = true; });
  expect_same_with([](CompileOptions& o) { o.debug.guards = true; });
  expect_same_with([](CompileOptions& o) { o.paged = true; });
  expect_same_with([](CompileOptions& o) { o.passes.in_place = false; });
  expect_same_with([](CompileOptions& o) { o.memory = block; });
}

// A dry run asks for what the run will ask for.
TEST_F(AwayTest, ARehearsalHoldsAsMuch) {
  std::array<Bytes, 2> held{};
  AwayNet first;  // code that is touched for the first time takes memory, too
  auto warm = first.compiled(within(first, kTight));
  first.run(warm);
  for (const bool is_dry : {false, true}) {
    AwayNet net(is_dry);
    // The room suffices with the stack of the file's thread, too.
    auto step = net.compiled(within(net, kTight + 128 * kKiB));
    const AwayNet::Here here(net);
    const Bytes before = net.domain->stats().live;
    step(net.batch());
    held[is_dry ? 1 : 0] = net.domain->stats().live - before;
  }
  EXPECT_EQ(held[0], held[1]);
  EXPECT_LT(held[0], AwayNet::kState);
}

// --- from outside ------------------------------------------------------------

TEST_F(AwayTest, WhoeverLooksAtAMomentSeesIt) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  for (int i = 0; i < 3; ++i) {
    plain.run(whole);
    net.run(step);
  }
  const optim::OptimizerState there = plain.adam->state();
  const optim::OptimizerState here = net.adam->state();
  EXPECT_EQ(net.away(), AwayNet::kMoments);
  const auto moment = [](const optim::OptimizerState& state, std::size_t i) {
    return state.slots[i].tensors[0];
  };
  EXPECT_EQ(moment(here, 0).at({3, 5}), moment(there, 0).at({3, 5}));
  EXPECT_EQ(moment(here, 1).to_vector(), moment(there, 1).to_vector());
  EXPECT_EQ(sum(moment(here, 2)).item(), sum(moment(there, 2)).item());
  EXPECT_EQ(net.away(), AwayNet::kMoments - 3);
  // A moment that was read back leaves again, changed from outside or not.
  fill_(moment(there, 3), 0.5);
  fill_(moment(here, 3), 0.5);
  EXPECT_EQ(plain.run(whole), net.run(step));
  EXPECT_EQ(net.away(), AwayNet::kMoments);
  expect_same(net, plain);
}

TEST_F(AwayTest, AnEagerStepGoesOn) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  for (int i = 0; i < 3; ++i) {
    plain.run(whole);
    net.run(step);
    auto eager = plain.function();
    auto eager_too = net.function();
    plain.run(eager);
    net.run(eager_too);
  }
  expect_same(net, plain);
}

TEST_F(AwayTest, WhatSetStateGivesCounts) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  plain.run(whole);
  net.run(step);
  for (AwayNet* each : {&plain, &net}) {
    const AwayNet::Here here(*each);
    each->adam->set_state(each->adam->zero_state());
  }
  EXPECT_EQ(net.run(step), plain.run(whole));
  expect_same(net, plain);
}

// --- several steps -----------------------------------------------------------

TEST_F(AwayTest, TwoStepsShareAState) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto first = net.compiled(within(net, kTight));
  net.run(first);
  auto second = net.compiled(within(net, kTight));
  auto third = net.compiled({});
  plain.run(whole);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(net.run(first), plain.run(whole));
    EXPECT_EQ(net.run(second), plain.run(whole));
    EXPECT_EQ(net.run(third), plain.run(whole));
  }
  expect_same(net, plain);
}

TEST_F(AwayTest, AnotherShapeIsTracedWhileStateIsAway) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  for (const std::int64_t rows : {16, 8, 16, 5, 8}) {
    EXPECT_EQ(net.run(step, rows), plain.run(whole, rows)) << rows;
  }
  EXPECT_EQ(step.traces(), 3);
  EXPECT_EQ(net.away(), AwayNet::kMoments);
  expect_same(net, plain);
}

// --- the end of a step -------------------------------------------------------

TEST_F(AwayTest, AStepThatEndsLosesNothing) {
  const Trained whole = train_whole();
  AwayNet net;
  {
    auto step = net.compiled(within(net, kTight));
    for (int i = 0; i < 4; ++i) {
      net.run(step);
    }
    auto moved = std::move(step);
  }
  EXPECT_EQ(net.away(), AwayNet::kMoments);
  EXPECT_EQ(net.values(), whole.weights);
  EXPECT_EQ(net.moments(), whole.moments);
  EXPECT_EQ(net.away(), 0);
}

TEST_F(AwayTest, ResetBringsStatesHome) {
  const Trained whole = train_whole();
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  for (int i = 0; i < 4; ++i) {
    net.run(step);
  }
  {
    const AwayNet::Here here(net);
    const Budget tight(net.in_use() + 300 * kKiB);
    EXPECT_THROW(step.reset(), OutOfMemory);
  }
  EXPECT_GT(net.away(), 0);
  {
    const AwayNet::Here here(net);
    step.reset();
  }
  EXPECT_EQ(net.away(), 0);
  EXPECT_EQ(net.values(), whole.weights);
  EXPECT_EQ(net.moments(), whole.moments);
}

TEST_F(AwayTest, WithoutMemoryForItAMomentIsRefusedAndStays) {
  AwayNet net;
  auto step = net.compiled(within(net, kTight));
  net.run(step);
  const optim::OptimizerState state = net.adam->state();
  const Tensor& moment = state.slots[0].tensors[0];
  {
    const AwayNet::Here here(net);
    net.domain->trim();  // nothing idle may serve
    const Budget tight(net.in_use() + 16 * kKiB);
    EXPECT_THROW(moment.to_vector(), OutOfMemory);
    EXPECT_THROW(sum(moment), OutOfMemory);
  }
  EXPECT_EQ(net.away(), AwayNet::kMoments);
  EXPECT_NE(sum(abs(moment)).item(), 0.0);
}

// --- in both rooms -----------------------------------------------------------

TEST_P(AwayRoomsTest, ARunKeepsToTheBudget) {
  AwayNet net;
  const CompileOptions options = within(net, GetParam());
  auto step = net.compiled(options);
  net.run(step);
  net.domain->reset_peak();
  net.run(step);
  const memory::Stats stats = net.domain->stats();
  EXPECT_LE(stats.peak + stats.external, options.budget);
  EXPECT_EQ(net.weights_away(), weights());
  EXPECT_EQ(net.away(), AwayNet::kMoments);
}

TEST_P(AwayRoomsTest, FromTheThirdRunOnNothingIsAskedFor) {
  AwayNet net;
  auto step = net.compiled(within(net, GetParam()));
  const AwayNet::Here here(net);
  const Tensor x = ones({16, AwayNet::kWidth});
  step(x);
  step(x);
  const std::int64_t before = net.domain->stats().allocations;
  step(x);
  EXPECT_EQ(net.domain->stats().allocations, before);
}

TEST_P(AwayRoomsTest, SmallerBatchesFitTheArenaOfTheLargest) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  CompileOptions options = within(net, GetParam());
  options.max_batch = 16;
  auto step = net.compiled(options);
  for (const std::int64_t rows : {5, 16, 5}) {
    EXPECT_EQ(net.run(step, rows), plain.run(whole, rows)) << rows;
  }
  expect_same(net, plain);
}

INSTANTIATE_TEST_SUITE_P(All, AwayRoomsTest, testing::Values(kTight, kTighter),
                         name_of_room);

}  // namespace
}  // namespace neap::compiler
