// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled steps of language models whose head runs in pieces: below what is
// possible without, with the state of a step without a limit.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/fit.hpp"
#include "neap/compile/head_pieces.hpp"
#include "neap/compile/lower.hpp"
#include "neap/compile/orders.hpp"
#include "neap/memory/domain.hpp"
#include "neap/models/gpt.hpp"
#include "neap/optim/adam.hpp"
#include "neap/program/print.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kVocab = 1'000;
constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kTokens = 32;
constexpr int kSteps = 3;

models::GptOptions small(bool tie) {
  return {.vocab = kVocab,
          .block = kTokens,
          .layers = 2,
          .heads = 2,
          .dim = 16,
          .dropout = 0.1,
          .tie = tie};
}

// A model, its optimizer and its step.
struct Lesson {
  explicit Lesson(const models::GptOptions& options = small(true))
      : model(options), optimizer(model.parameters(), {.lr = 0.01}) {}
  auto step() {
    return [this](const Tensor& tokens, const Tensor& targets) {
      const Tensor loss = model.loss(tokens, targets);
      backward(loss);
      optimizer.step();
      optimizer.zero_grad();
      return loss.detach();
    };
  }
  models::Gpt model;
  optim::AdamW optimizer;
};

Tensor words(std::int64_t first) {
  Tensor out = zeros({kBatch, kTokens}, i64);
  for (std::int64_t& word : out.mutable_values<std::int64_t>()) {
    word = first = (first * 48'271 + 11) % kVocab;
  }
  return out;
}

const std::array kSpecs{tensor::Spec{i64, {kBatch, kTokens}},
                        tensor::Spec{i64, {kBatch, kTokens}}};

struct Trained {
  std::uint64_t hash = 0;
  Bytes arena = 0;
  Fitting fitting{};
};

Trained train(const CompileOptions& options, int threads, bool tie = true) {
  threads::Pool pool(threads);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& e) { e.executor = &pool; });
  seed(5);
  Lesson lesson(small(tie));
  auto step = neap::compile(lesson.step(), options);
  for (int i = 0; i < kSteps; ++i) {
    step(words(i), words(i + 7));
  }
  return {
      train::state_hash(lesson.model, lesson.optimizer, tensor::generator()),
      step.arena_bytes(), step.program().fitting};
}

// The least arena, with heads whole or in pieces where that helps.
Bytes least_arena(Passes passes) {
  Lesson lesson;
  return fit(lesson.step(), kSpecs, {.passes = passes}).back().arena;
}

TEST(PiecesStepTest, ALimitBelowTheWholeHeadsFloorIsMetWithTheSameState) {
  const Bytes whole_least = least_arena({.pieces = 1, .micro_batches = 1});
  const Bytes least = least_arena({.micro_batches = 1});
  EXPECT_LT(least, whole_least * 2 / 3);
  const Bytes limit = (least + whole_least) / 2;
  for (const int threads : {1, 2}) {
    const Trained free = train({}, threads);
    EXPECT_EQ(free.fitting.pieces, 0U);
    const Trained limited =
        train({.arena_limit = limit, .passes = {.micro_batches = 1}}, threads);
    EXPECT_EQ(limited.hash, free.hash) << threads;
    EXPECT_LE(limited.arena, limit);
    EXPECT_GE(limited.fitting.pieces, 2U);
    EXPECT_THROW(train({.arena_limit = limit,
                        .passes = {.pieces = 1, .micro_batches = 1}},
                       threads),
                 PlanError);
  }
}

TEST(PiecesStepTest, EveryNumberOfPiecesLeavesTheSameState) {
  for (const bool tie : {true, false}) {
    const Trained whole = train({}, 1, tie);
    for (const std::uint32_t k : {2U, 5U, 8U, 64U}) {
      const Trained some = train({.passes = {.pieces = k}}, 1, tie);
      EXPECT_EQ(some.hash, whole.hash) << k << (tie ? ", tied" : "");
      EXPECT_LT(some.arena, whole.arena) << k;
      EXPECT_GE(some.fitting.pieces, k - 1);
    }
  }
}

// A stray read of the arena would show: blocks are apart, filled and watched.
TEST(PiecesStepTest, NothingIsReadBeforeItIsSetNorBeyondItsEnd) {
  const Trained whole = train({}, 1);
  const Trained watched = train(
      {.passes = {.pieces = 4}, .debug = {.poison = true, .guards = true}}, 1);
  EXPECT_EQ(watched.hash, whole.hash);
  const Trained apart =
      train({.passes = {.pieces = 4}, .debug = {.no_reuse = true}}, 1);
  EXPECT_EQ(apart.hash, whole.hash);
}

TEST(PiecesStepTest, ThePredictionSaysInHowManyPieces) {
  Lesson lesson;
  const Bytes limit =
      neap::lower(lesson.step(), kSpecs).plan.arena_bytes() * 7 / 10;
  const auto lowered =
      neap::lower(lesson.step(), kSpecs, {.arena_limit = limit});
  ASSERT_GE(lowered.program.fitting.pieces, 2U);
  EXPECT_EQ(lowered.program.fitting.again, 0U);  // that was enough
  const std::string pieces = "cross_entropy in " +
                             std::to_string(lowered.program.fitting.pieces) +
                             " pieces";
  EXPECT_THAT(std::string(format(lowered.prediction)), HasSubstr(pieces));
  EXPECT_THAT(std::string(to_json(lowered.prediction)),
              HasSubstr("\"pieces\""));
  EXPECT_THAT(std::string(print(lowered.program)), HasSubstr(pieces));
  const auto whole = neap::lower(lesson.step(), kSpecs);
  EXPECT_THAT(std::string(format(whole.prediction)),
              Not(HasSubstr("cross_entropy in")));
}

// Numbers of pieces for a head of this many words.
HeadPieces pieces_of(std::int64_t vocab, const Passes& passes = {}) {
  models::GptOptions options = small(true);
  options.vocab = vocab;
  models::Gpt model(options);
  const auto step = [&](const Tensor& tokens, const Tensor& targets) {
    backward(model.loss(tokens, targets));
  };
  const Bytes arena = neap::lower(step, kSpecs).plan.arena_bytes();
  return head_pieces(
      trace_for(as_step<2>(step), GivenArguments{kSpecs}, {}, CallSite::here()),
      passes, arena);
}

// A piece has 16 rows at least.
TEST(PiecesStepTest, PiecesArePlannedWhereTheLogitsAreAGoodShare) {
  EXPECT_THAT(pieces_of(10).kept, testing::IsEmpty());
  EXPECT_THAT(pieces_of(10).scheduled, testing::IsEmpty());
  EXPECT_THAT(pieces_of(5'000).kept, testing::ElementsAre(2U, 4U, 8U));
  EXPECT_THAT(pieces_of(5'000).scheduled, testing::ElementsAre(8U));
  EXPECT_THAT(pieces_of(5'000, {.pieces = 1}).kept, testing::IsEmpty());
}

TEST(PiecesStepTest, APlanIsTheSameEveryTime) {
  Lesson lesson;
  const Bytes limit = neap::lower(lesson.step(), kSpecs).plan.arena_bytes() / 2;
  const CompileOptions options{.arena_limit = limit};
  const auto first = neap::lower(lesson.step(), kSpecs, options);
  const auto second = neap::lower(lesson.step(), kSpecs, options);
  EXPECT_EQ(value_offsets(first.plan), value_offsets(second.plan));
  EXPECT_EQ(first.program.fitting.pieces, second.program.fitting.pieces);
  EXPECT_EQ(first.program.fitting.extra, second.program.fitting.extra);
}

// GPT-2 small, 4 x 1024 tokens, AdamW: planned, nothing is allocated.
TEST(PiecesStepTest, TheHeadOfALargeModelIsTheWidestNoMore) {
  const auto rehearsal = memory::Domain::create({.is_rehearsal = true});
  const memory::UseDomain use(*rehearsal);
  models::Gpt model({.keep = models::GptKeep::kEverything});
  optim::AdamW optimizer(model.parameters());
  const auto step = [&](const Tensor& tokens, const Tensor& targets) {
    backward(model.loss(tokens, targets));
    optimizer.step();
    optimizer.zero_grad();
  };
  const std::array specs{tensor::Spec{i64, {4, 1'024}},
                         tensor::Spec{i64, {4, 1'024}}};
  const Program traced =
      trace_for(as_step<2>(step), GivenArguments{specs}, {}, CallSite::here());
  const auto widest = [&](const Passes& passes) {
    const CompileOptions options;
    return Ordered(traced, options, passes, {}).widest().bytes / kMiB;
  };
  EXPECT_NEAR(static_cast<double>(widest({})), 945, 8);  // scratch varies
  EXPECT_NEAR(static_cast<double>(widest({.pieces = 8})), 258, 8);
  const auto arena = [&](const Passes& passes) {
    return all_kept(traced, {}, passes).arena / kMiB;
  };
  EXPECT_GT(arena({}), arena({.pieces = 8}) + 580);
  EXPECT_EQ(head_pieces(traced, {}, 2'598 * kMiB).scheduled,
            (memory::Vector<std::uint32_t>{8}));
}

void expect_curve_of_limits(const models::GptOptions& options,
                            std::int64_t batch) {
  threads::Pool pool(1);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& e) { e.executor = &pool; });
  Lesson lesson(options);
  const Shape shape{batch, options.block};
  const std::array specs{tensor::Spec{i64, shape}, tensor::Spec{i64, shape}};
  const FitCurve curve = fit(lesson.step(), specs);
  std::uint32_t pieces = 0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const auto limited =
        neap::lower(lesson.step(), specs, {.arena_limit = curve[i].arena});
    EXPECT_EQ(limited.plan.arena_bytes(), curve[i].arena);
    EXPECT_EQ(limited.program.fitting.extra, curve[i].fitting.extra);
    EXPECT_EQ(limited.program.fitting.pieces, curve[i].fitting.pieces);
    pieces = std::max(pieces, curve[i].fitting.pieces);
  }
  EXPECT_GE(pieces, 2U);
}

TEST(PiecesStepTest, TheCurveIsWhatEachLimitGives) {
  expect_curve_of_limits(small(true), kBatch);
  // A rung of this one packs far below its target.
  expect_curve_of_limits(
      {.vocab = 3'000, .block = 64, .layers = 1, .heads = 4, .dim = 32}, 16);
}

// Gradients that stay are added to over several runs.
TEST(PiecesStepTest, GradientsThatAreAddedToOverSeveralRuns) {
  const auto sums = [](const CompileOptions& options) {
    seed(5);
    Lesson lesson;
    auto step = neap::compile(
        [&](const Tensor& tokens, const Tensor& targets) {
          backward(lesson.model.loss(tokens, targets) * 0.25);
        },
        options);
    for (int i = 0; i < 4; ++i) {
      step(words(i), words(i + 7));
    }
    lesson.optimizer.step();
    return train::state_hash(lesson.model, lesson.optimizer,
                             tensor::generator());
  };
  EXPECT_EQ(sums({.passes = {.pieces = 6}}), sums({}));
}

}  // namespace
}  // namespace neap::compiler
