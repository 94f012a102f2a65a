// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Passes that measure a model, by themselves and between the steps of fit().
#include "neap/train/evaluator.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "neap/files/temporary_folder.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/save.hpp"
#include "neap/train/small_training_test.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::train {
namespace {

using ::testing::ElementsAre;

// A network, its averages, a plateau, and the loaders of a run.
struct Session {
  FitOptions options(std::int64_t steps, std::int64_t every) {
    FitOptions out;
    out.steps = steps;
    out.trainer.average = &average;
    out.trainer.plateau = &plateau;
    out.test = {
        .loader = &tests,
        .every_steps = every,
        .options = {},
        .on_evaluation = [this](std::int64_t step, const Evaluation& found) {
          told.push_back(step);
          losses.push_back(found.loss);
        }};
    return out;
  }
  FitResult fit(const FitOptions& options) {
    const UseGenerator using_it(generator);
    return train::fit(net, adam, loader, options);
  }
  std::uint64_t hash() const {
    return state_hash(net, adam, average, generator);
  }

  Generator generator{7};
  UseGenerator use{generator};
  Sides data;
  Net net;
  optim::Adam adam{net.parameters(), {.lr = 0.02}};
  optim::Ema average{net.parameters(), {.decay = 0.8}};
  optim::ReduceOnPlateau plateau{
      adam, {.factor = 0.5, .patience = 0, .threshold = 0.2}};
  data::Loader loader{data, {.batch = 6, .shuffle = true, .seed = 1}};
  data::Loader tests{data, {.batch = 8}};
  std::vector<std::int64_t> told;
  std::vector<double> losses;
};

class EvaluatorTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("run.safetensors"); }
  files::TemporaryFolder folder_;
};

TEST_F(EvaluatorTest, ACompiledPassHasTheBitsOfAnEagerOne) {
  Session run;
  Evaluator eager(run.net, run.tests);
  Evaluator compiled(run.net, run.tests, {.compile = true});
  for (int pass = 0; pass < 3; ++pass) {
    const Evaluation a = eager.run();
    const Evaluation b = compiled.run();
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.accuracy, b.accuracy);
    EXPECT_EQ(a.samples, 20);
    static_cast<void>(run.fit({.steps = 1}));
  }
}

TEST_F(EvaluatorTest, APassNeedsNoMoreThanWasPrepared) {
  Session run;
  Evaluator compiled(run.net, run.tests, {.compile = true});
  compiled.prepare();
  const memory::Stats prepared = domain_->stats();
  static_cast<void>(compiled.run());
  static_cast<void>(compiled.run());
  EXPECT_EQ(domain_->stats().live, prepared.live);
  EXPECT_EQ(domain_->stats().live_peak, prepared.live_peak);
  EXPECT_EQ(domain_->stats().peak, prepared.peak);
}

TEST_F(EvaluatorTest, APassRestoresEveryMode) {
  Session run;
  run.net.dropout.eval();
  Evaluator(run.net, run.tests).run();
  EXPECT_TRUE(run.net.is_training());
  EXPECT_FALSE(run.net.dropout.is_training());
}

TEST_F(EvaluatorTest, FitTestsAfterEverySoManySteps) {
  Session run;
  EXPECT_EQ(run.fit(run.options(7, 3)).steps, 7);
  EXPECT_THAT(run.told, ElementsAre(3, 6));
}

TEST_F(EvaluatorTest, ATestIsThatOfTheAveragesAtItsStep) {
  Session run;
  auto options = run.options(6, 3);
  options.trainer.plateau = nullptr;
  static_cast<void>(run.fit(options));
  EXPECT_NE(run.losses[1], evaluate(run.net, run.tests).loss);
  const optim::UseAverages averaged(run.average);
  EXPECT_EQ(run.losses[1], evaluate(run.net, run.tests).loss);
}

TEST_F(EvaluatorTest, ThePlateauIsToldOfEveryTest) {
  Session run;
  static_cast<void>(run.fit(run.options(12, 2)));
  double best = std::numeric_limits<double>::infinity();
  double rate = 0.02;
  for (const double loss : run.losses) {
    if (loss < best * 0.8) {
      best = loss;
    } else {
      rate *= 0.5;
    }
  }
  EXPECT_LT(rate, 0.02);  // or the test shows nothing
  EXPECT_DOUBLE_EQ(run.adam.lr(), rate);
  EXPECT_EQ(run.plateau.state().best, best);
}

TEST_F(EvaluatorTest, AResumedRunEndsInTheBitsOfOneThatWasNotInterrupted) {
  for (const bool compile : {false, true}) {
    for (const std::int64_t first : {3, 4}) {  // after a test, and between
      const auto options = [&](Session& run, std::int64_t steps) {
        FitOptions out = run.options(steps, 3);
        out.trainer.compile = compile;
        out.test.options.compile = compile;
        return out;
      };
      Session whole;
      static_cast<void>(whole.fit(options(whole, 9)));
      Session part;
      FitOptions saving = options(part, first);
      saving.save.path = path();
      ASSERT_FALSE(part.fit(saving).save_failure);
      Session rest;
      FitOptions resuming = options(rest, 9);
      resuming.resume = path();
      const FitResult result = rest.fit(resuming);
      ASSERT_FALSE(result.resume_failure) << result.resume_failure->message;
      EXPECT_EQ(rest.hash(), whole.hash());
      EXPECT_EQ(rest.plateau.state(), whole.plateau.state());
      EXPECT_EQ(rest.adam.lr(), whole.adam.lr());
      EXPECT_LT(whole.adam.lr(), 0.02);
    }
  }
}

TEST_F(EvaluatorTest, ATestWithoutAnIntervalOrDataIsRefusedBeforeAStep) {
  Session run;
  const std::uint64_t before = run.hash();
  EXPECT_THROW(static_cast<void>(run.fit(run.options(3, 0))), ValueError);
  data::Loader none(run.data, {.batch = 64, .drop_last = true});
  FitOptions options = run.options(3, 1);
  options.test.loader = &none;
  EXPECT_THROW(static_cast<void>(run.fit(options)), ValueError);
  EXPECT_EQ(run.hash(), before);
}

TEST_F(EvaluatorTest, ALoaderWithoutABatchGivesNoNumber) {
  Session run;
  data::Loader none(run.data, {.batch = 64, .drop_last = true});
  for (const bool compile : {false, true}) {
    Evaluator empty(run.net, none, {.compile = compile});
    empty.prepare();
    EXPECT_TRUE(std::isnan(empty.run().loss));
  }
}

TEST_F(EvaluatorTest, AveragesOfACheckpointAreLoadedWhereTheyAreAskedFor) {
  Session run;
  FitOptions options = run.options(5, 2);
  options.save.path = path();
  ASSERT_FALSE(run.fit(options).save_failure);
  Net net;
  const auto plain = load(net, path());
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(net.hidden.weight().to_vector(),
            run.net.hidden.weight().to_vector());
  const auto averaged = load(net, path(), {.averages = true});
  ASSERT_TRUE(averaged) << averaged.error().message;
  EXPECT_EQ(net.hidden.weight().to_vector(),
            run.average.averages()[0].tensor.to_vector());
  EXPECT_NE(net.hidden.weight().to_vector(),
            run.net.hidden.weight().to_vector());
  EXPECT_EQ(net.scale.to_vector(), run.net.scale.to_vector());  // it has none
}

TEST_F(EvaluatorTest, TheHashIsOfTheAveragesToo) {
  Session run;
  static_cast<void>(run.fit({.steps = 1}));  // which tracks no averages
  const std::uint64_t before = run.hash();
  run.average.update();
  EXPECT_NE(run.hash(), before);
}

}  // namespace
}  // namespace neap::train
