// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that asked a generator for its state, a loader or a training for its
// position, a compiled step for its programs, a data set for a sample, or the
// thread for its context went on with the answer of its trace; and what it did
// to a loader or to a generator of its own was done once.
#include <gmock/gmock.h>

#include <array>

#include "neap/base/external.hpp"
#include "neap/data/image_set.hpp"
#include "neap/data/loader.hpp"
#include "neap/data/tensor_set.hpp"
#include "neap/memory/context.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/watch.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/report/growth.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/trainer.hpp"
#include "step_questions.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepAsksForPositionsTest : public ::testing::Test {
 protected:
  static constexpr const char* kHere = "step_asks_for_positions_";

  template <class Ask>
  static void expect_refused(const Ask& ask, const char* words,
                             const char* line = kHere) {
    expect_question_refused(ask, words, line);
  }
  // The same of what the step does instead of asking; it does nothing.
  template <class Act>
  void expect_action_refused(const Act& act, const char* words) const {
    auto step = neap::compile([&](const Tensor& x) {
      act();
      return x * 2.0;
    });
    EXPECT_THAT([&] { step(x_); }, ThrowsMessage<TraceError>(HasSubstr(words)));
  }

  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepAsksForPositionsTest, TheStateOfAGeneratorIsRefused) {
  Generator mine(3);
  expect_refused([] { return tensor::generator().state().draw > 0; }, "state:");
  expect_refused([&] { return mine.state().draw > 0; }, "state:");
  expect_refused([&] { return mine.next().draw > 0; }, "next:");
  expect_refused([] { return tensor::generator().next().draw > 0; }, "next:");
  expect_refused(
      [] {
        const bool is_asked = tensor::generator().next().draw > 0;
        return is_asked || rand({2}).rank() == 2;
      },
      "next:");
}

TEST_F(StepAsksForPositionsTest, AGeneratorOfAnothersChoiceStaysAsItIs) {
  Generator mine(3);
  const auto acts = [&](auto act, const char* words) {
    expect_action_refused(act, words);
  };
  acts([&] { mine.advance(); }, "advance:");
  acts([&] { mine.set_state({7, 1}); }, "set_state:");
  acts([&] { mine = Generator(5); }, "operator=:");
  EXPECT_EQ(mine.state().seed, 3U);
  EXPECT_EQ(mine.state().draw, 0U);
}

TEST_F(StepAsksForPositionsTest, DrawsOfTheStepAreStillThoseOfTheCaller) {
  const auto function = [](const Tensor& x) { return x + rand({2}); };
  Generator a(9);
  Generator b(9);
  auto step = neap::compile(function);
  for (int i = 0; i < 3; ++i) {
    Tensor eager;
    {
      const UseGenerator use(a);
      eager = function(x_);
    }
    const UseGenerator use(b);
    EXPECT_EQ(floats(step(x_)), floats(eager));
  }
  EXPECT_EQ(a.state().draw, b.state().draw);
}

TEST_F(StepAsksForPositionsTest, TheContextOfACallIsRefused) {
  expect_refused(
      [] { return memory::context().category == memory::Category::kData; },
      "context:");
  expect_refused([] { return memory::context().owner.value > 0; }, "context:");
  expect_refused([] { return tensor::execution().executor != nullptr; },
                 "execution:");
  expect_refused([] { return threads::default_pool().threads() > 1; },
                 "default_pool:");
}

TEST_F(StepAsksForPositionsTest, WhetherOpsAreRecordedIsAGuard) {
  auto step = neap::compile([](const Tensor& x) {
    return neap::is_grad_enabled() ? x * 2.0 : x * 3.0;
  });
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
  {
    const NoGrad mode;
    EXPECT_THAT(floats(step(x_)), Each(3.0F));
  }
  EXPECT_EQ(step.traces(), 2);
}

TEST_F(StepAsksForPositionsTest, ThePositionOfALoaderIsRefused) {
  const data::TensorSet set(full({4, 2}, 1.0), full({4}, 1.0));
  data::Loader loader(set, {.batch = 2});
  expect_refused([&] { return loader.epoch() > 0; }, "epoch:");
  expect_refused([&] { return loader.next_batch() > 0; }, "next_batch:");
  loader.start(3);
  expect_action_refused([&] { loader.start(0); }, "start:");
  expect_action_refused(
      [&] {
        for (const data::Batch& batch : loader.epoch(0)) {
          x_ = batch.input;
        }
      },
      "loader:");
  EXPECT_EQ(loader.epoch(), 3);
}

TEST_F(StepAsksForPositionsTest, SamplesOfADataSetAreRefused) {
  const data::TensorSet set(full({4, 2}, 1.0), full({4}, 1.0));
  std::array<float, 2> input{};
  std::array<float, 1> target{};
  expect_refused(
      [&] {
        return set.load(1, std::as_writable_bytes(std::span(input)),
                        std::as_writable_bytes(std::span(target)))
                   .has_value() &&
               input[0] > 1.0F;
      },
      "load:", "");
  data::ImageSet images(zeros({2, 1, 1}, u8), zeros({2}, u8), 2);
  expect_refused([&] { return images.values_of(0)[0] > 0.5F; },
                 "values_of:", "");
  data::Sampler sampler(4, true, 1);
  expect_refused([&] { return sampler[0] == 0; }, "operator[]:", "");
}

TEST_F(StepAsksForPositionsTest, ThePositionOfATrainingIsRefused) {
  const data::TensorSet set(full({4, 2}, 1.0), full({4, 1}, 1.0));
  data::Loader loader(set, {.batch = 2});
  nn::Linear model(2, 1);
  optim::SGD sgd(model.parameters(), {.lr = 0.1});
  train::Trainer trainer(model, sgd, loader,
                         {.loss = [](const Tensor& y, const Tensor& t) {
                           return mse_loss(y, t);
                         }});
  expect_refused([&] { return trainer.steps_done() > 0; }, "steps_done:");
  expect_refused([&] { return trainer.position().epoch > 0; }, "position:");
}

TEST_F(StepAsksForPositionsTest, TheProgramsOfACompiledStepAreRefused) {
  auto other = neap::compile([](const Tensor& x) { return x * 2.0; });
  other(x_);
  expect_refused([&] { return other.traces() > 1; }, "traces:");
  expect_refused([&] { return other.programs() > 1; }, "programs:");
  expect_refused([&] { return other.why().empty(); }, "why:");
  expect_refused([&] { return other.arena_bytes() > 0; }, "arena_bytes:");
  expect_refused([&] { return other.program().calls.size() > 9; }, "program:");
  expect_refused([&] { return other.plan().arena_bytes() > 0; }, "plan:");
  expect_refused([&] { return other.prediction().arena > 0; }, "prediction:");
  expect_refused([&] { return other.measured().arena > 0; }, "measured:");
}

TEST_F(StepAsksForPositionsTest, FiguresOfTheProcessAreRefused) {
  expect_refused([] { return base::external_bytes() > 0; }, "external_bytes:");
  expect_refused(
      [] {
        std::array<base::ExternalRow, base::kMaxExternalRows> rows;
        return base::external_rows(rows.data()) > 1;
      },
      "external_rows:");
  expect_refused([] { return memory::trim() > 0; }, "trim:");
  expect_refused([] { return base::interned_sites() > 9; },
                 "interned_sites:", "");
  const report::Growth growth;
  expect_refused([&] { return growth.steps() > 0; }, "steps:", "");
}

TEST_F(StepAsksForPositionsTest, WhichCallsAWatchSawIsRefused) {
  const nn::Linear layer(2, 2);
  const nn::Watch watch(layer);
  expect_refused([&] { return watch.calls().empty(); }, "calls:");
}

}  // namespace
}  // namespace neap::compiler
