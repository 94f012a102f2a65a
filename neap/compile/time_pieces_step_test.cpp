// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled steps of recurrent networks in pieces of time: below what is
// possible without, with the state of a step without a limit.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/fit.hpp"
#include "neap/compile/lower.hpp"
#include "neap/compile/time_pieces.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/recurrent.hpp"
#include "neap/optim/adam.hpp"
#include "neap/program/print.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kBatch = 6;
constexpr std::int64_t kSteps = 61;
constexpr std::int64_t kWidth = 16;
constexpr int kRuns = 3;
constexpr std::uint32_t kPlanned = 11;

// Layers over a sequence, classes from their last state, and their output as
// a whole where that is read, too.
template <class Layers>
class Network : public nn::Module {
 public:
  Network(const nn::RecurrentOptions& options, bool reads_all)
      : layers_(kWidth, kWidth, options),
        head_(kWidth, 3),
        reads_all_(reads_all) {
    register_module("layers", layers_);
    register_module("head", head_);
  }
  Tensor loss(const Tensor& x, const Tensor& labels) const {
    auto result = layers_.run(x);
    Tensor h;
    if constexpr (requires { result.state; }) {
      h = result.state.h;
    } else {
      h = result.h;
    }
    Tensor loss = cross_entropy(head_(select(h, 0, -1)), labels);
    return reads_all_ ? loss + mean(square(result.output)) : loss;
  }

 private:
  Layers layers_;
  nn::Linear head_;
  bool reads_all_;
};

struct Trained {
  std::uint64_t hash = 0;
  Bytes arena = 0;
  Bytes planned = 0;  // where it was asked for
  Fitting fitting{};
};

const Shape& shape_of(const nn::RecurrentOptions& options) {
  static const Shape kFirst{kBatch, kSteps, kWidth};
  static const Shape kTime{kSteps, kBatch, kWidth};
  return options.batch_first ? kFirst : kTime;
}

template <class Layers>
Trained train(const CompileOptions& options, std::uint64_t from = 5,
              const nn::RecurrentOptions& how = {.batch_first = true},
              bool reads_all = false, int threads = 1) {
  threads::Pool pool(threads);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& e) { e.executor = &pool; });
  seed(from);
  Network<Layers> network(how, reads_all);
  optim::Adam optimizer(network.parameters(), {.lr = 0.01});
  const auto body = [&](const Tensor& x, const Tensor& labels) {
    backward(network.loss(x, labels));
    optimizer.step();
    optimizer.zero_grad();
  };
  const std::array specs{tensor::Spec{f32, shape_of(how)},
                         tensor::Spec{i64, {kBatch}}};
  Trained out;
  if (options.passes.time_pieces == kPlanned) {  // a search takes long
    out.planned = neap::lower(body, specs, options).plan.arena_bytes();
  }
  auto step = neap::compile(body, options);
  for (int i = 0; i < kRuns; ++i) {
    step(randn(shape_of(how)), randint(0, 3, {kBatch}));
  }
  out.hash = train::state_hash(network, optimizer, tensor::generator());
  out.arena = step.arena_bytes();
  out.fitting = step.program().fitting;
  return out;
}

// With a file and without one.
template <class Layers>
void expect_same_state(std::uint64_t from, const nn::RecurrentOptions& how,
                       bool reads_all, std::initializer_list<int> percents,
                       std::uint32_t pieces) {
  const files::TemporaryFolder folder;
  const Trained free = train<Layers>({}, from, how, reads_all);
  EXPECT_EQ(free.fitting.time_pieces, 0U);
  std::uint32_t cut = 0;
  for (const bool has_file : {false, true}) {
    for (const int percent : percents) {
      SCOPED_TRACE(testing::Message()
                   << percent << " %" << (has_file ? " and a file" : ""));
      CompileOptions options{.arena_limit = free.arena * percent / 100,
                             .passes = {.fuse = false,  // fewer orders
                                        .reorder = false,
                                        .micro_batches = 1,
                                        .time_pieces = pieces}};
      if (has_file) {
        options.spill = {.folder = folder.path(),
                         .write_rate = 1'400'000'000,
                         .fetch_rate = 1'000'000'000,
                         .least = 4 * kKiB};
      }
      const Trained limited = train<Layers>(options, from, how, reads_all);
      EXPECT_EQ(limited.hash, free.hash);
      EXPECT_LE(limited.arena, options.arena_limit);
      if (limited.planned != 0) {
        EXPECT_EQ(limited.arena, limited.planned);
      }
      cut = std::max(cut, limited.fitting.time_pieces);
    }
  }
  EXPECT_GE(cut, 2U);
}

TEST(TimePiecesStepTest, TheSameStateAtEveryLimit) {
  const nn::RecurrentOptions how{.batch_first = true};
  expect_same_state<nn::LSTM>(2, how, false, {80, 50, 30}, kPlanned);
  expect_same_state<nn::LSTM>(3, how, true, {60}, 7);
  expect_same_state<nn::GRU>(4, {}, false, {50}, 10);
}

TEST(TimePiecesStepTest, LayersInBothDirectionsWhoseOutputIsRead) {
  const nn::RecurrentOptions both{
      .num_layers = 2, .batch_first = true, .bidirectional = true};
  expect_same_state<nn::LSTM>(5, both, true, {90}, 4);
}

TEST(TimePiecesStepTest, EveryNumberOfPiecesLeavesTheSameState) {
  const nn::RecurrentOptions how{.num_layers = 2, .batch_first = true};
  for (const int threads : {1, 2}) {
    const Trained lstm = train<nn::LSTM>({}, 7, how, true, threads);
    const Trained gru = train<nn::GRU>({}, 7, how, false, threads);
    const Trained rnn = train<nn::RNN>({}, 7, how, true, threads);
    for (const std::uint32_t k : {2U, 4U, 10U, 64U}) {
      const CompileOptions options{.passes = {.time_pieces = k}};
      const Trained cut = train<nn::LSTM>(options, 7, how, true, threads);
      EXPECT_EQ(cut.hash, lstm.hash) << k;
      EXPECT_GE(cut.fitting.time_pieces, std::min(k, 61U) / 2);
      EXPECT_EQ(train<nn::GRU>(options, 7, how, false, threads).hash, gru.hash)
          << k;
      EXPECT_EQ(train<nn::RNN>(options, 7, how, true, threads).hash, rnn.hash)
          << k;
    }
  }
}

// A stray read of the arena would show: blocks are apart, filled and watched.
TEST(TimePiecesStepTest, NothingIsReadBeforeItIsSetNorBeyondItsEnd) {
  const nn::RecurrentOptions how{.num_layers = 2, .bidirectional = true};
  const Trained whole = train<nn::LSTM>({}, 8, how, true);
  const Trained watched = train<nn::LSTM>(
      {.passes = {.time_pieces = 6}, .debug = {.poison = true, .guards = true}},
      8, how, true);
  EXPECT_EQ(watched.hash, whole.hash);
  const Trained apart = train<nn::LSTM>(
      {.passes = {.time_pieces = 6}, .debug = {.no_reuse = true}}, 8, how,
      true);
  EXPECT_EQ(apart.hash, whole.hash);
}

TEST(TimePiecesStepTest, APlanFileHasTheNumberOfPieces) {
  const files::TemporaryFolder folder;
  const Bytes limit = train<nn::LSTM>({}).arena / 2;
  const CompileOptions options{.arena_limit = limit,
                               .plan = {.file = folder.at("plan")}};
  const Trained first = train<nn::LSTM>(options);
  ASSERT_GE(first.fitting.time_pieces, 2U);
  const Trained second = train<nn::LSTM>(options);
  EXPECT_EQ(second.fitting.time_pieces, first.fitting.time_pieces);
  EXPECT_EQ(second.fitting.again, first.fitting.again);
  EXPECT_EQ(second.arena, first.arena);
  EXPECT_EQ(second.hash, first.hash);
}

TEST(TimePiecesStepTest, ThePredictionSaysInHowManyPieces) {
  Network<nn::LSTM> network({}, false);
  const auto step = [&](const Tensor& x, const Tensor& labels) {
    backward(network.loss(x, labels));
  };
  const std::array specs{tensor::Spec{f32, shape_of({})},
                         tensor::Spec{i64, {kBatch}}};
  const auto lowered = neap::lower(step, specs, {.passes = {.time_pieces = 5}});
  EXPECT_EQ(lowered.program.fitting.time_pieces, 5U);
  const std::string pieces = "recurrent layers in 5 pieces of time";
  EXPECT_THAT(std::string(format(lowered.prediction)), HasSubstr(pieces));
  EXPECT_THAT(std::string(print(lowered.program)), HasSubstr(pieces));
  const auto whole = neap::lower(step, specs);
  EXPECT_THAT(std::string(print(whole.program)), Not(HasSubstr(pieces)));
}

}  // namespace
}  // namespace neap::compiler
