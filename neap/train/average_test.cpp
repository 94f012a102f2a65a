// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Averages of parameters, and plateaus, in trainers and in their checkpoints.
#include <gmock/gmock.h>

#include <optional>

#include "neap/files/temporary_folder.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/small_training_test.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A run whose averages are tracked, and whose rates a plateau lowers after
// every step.
struct Session {
  explicit Session(bool compile, bool has_average = true) {
    if (has_average) {
      average.emplace(net.parameters(),
                      optim::EmaOptions{.decay = 0.8, .warm_up = true});
    }
    TrainerOptions options;
    options.compile = compile;
    options.average = has_average ? &*average : nullptr;
    options.plateau = &plateau;
    trainer.emplace(net, adam, loader, options);
  }

  void step() { plateau.step(trainer->step().loss); }
  std::vector<std::vector<double>> averages() const {
    std::vector<std::vector<double>> out;
    for (const Parameter& one : average->averages()) {
      const auto values = one.tensor.to_vector();
      out.emplace_back(values.begin(), values.end());
    }
    return out;
  }

  Generator generator{7};
  UseGenerator use{generator};
  Sides data;
  Net net;
  optim::Adam adam{net.parameters(), {.lr = 0.02}};
  optim::ReduceOnPlateau plateau{adam, {.factor = 0.7, .patience = 1}};
  data::Loader loader{data, {.batch = 6, .shuffle = true, .seed = 1}};
  std::optional<optim::Ema> average;
  std::optional<Trainer> trainer;
};

void expect_same(const Session& a, const Session& b) {
  EXPECT_EQ(state_hash(a.net, a.adam, a.generator),
            state_hash(b.net, b.adam, b.generator));
  EXPECT_EQ(a.averages(), b.averages());
  EXPECT_EQ(a.average->update_count(), b.average->update_count());
  EXPECT_EQ(a.plateau.state(), b.plateau.state());
  EXPECT_EQ(a.adam.lr(), b.adam.lr());
}

class AverageTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("run.safetensors"); }
  static void steps(Session& run, int count) {
    const UseGenerator use(run.generator);
    for (int i = 0; i < count; ++i) {
      run.step();
    }
  }
  void save(Session& run) const {
    const UseGenerator use(run.generator);
    const auto saved = run.trainer->save(path());
    ASSERT_TRUE(saved) << saved.error().message;
  }
  Result<void> resume(Session& run) const {
    const UseGenerator use(run.generator);
    return run.trainer->resume(path());
  }

  files::TemporaryFolder folder_;
};

TEST_F(AverageTest, CompiledStepsHaveTheBitsOfEagerOnes) {
  Session eager(false);
  Session compiled(true);
  steps(eager, 9);
  steps(compiled, 9);
  expect_same(eager, compiled);
  EXPECT_EQ(compiled.average->update_count(), 9);
  EXPECT_LT(compiled.adam.lr(), 0.02);
}

TEST_F(AverageTest, AResumedRunEndsInTheBitsOfOneThatWasNotInterrupted) {
  for (const bool compile : {false, true}) {
    Session whole(compile);
    steps(whole, 9);
    Session first(compile);
    steps(first, 5);
    save(first);
    Session second(compile);
    const auto resumed = resume(second);
    ASSERT_TRUE(resumed) << resumed.error().message;
    expect_same(second, first);
    steps(second, 4);
    expect_same(second, whole);
  }
}

TEST_F(AverageTest, ASaveAllocatesNoMoreThanWasRehearsed) {
  Session run(false);
  run.trainer->rehearse_save();
  const Bytes live = domain_->stats().live;
  steps(run, 1);
  save(run);
  EXPECT_GE(domain_->stats().live_peak, live);
}

TEST_F(AverageTest, RefusesAFileWithoutThem) {
  Session without(false, false);
  steps(without, 2);
  save(without);
  Session with(false);
  const auto before = with.averages();
  const auto resumed = resume(with);
  ASSERT_FALSE(resumed);
  EXPECT_THAT(resumed.error().message,
              HasSubstr("the average of \"hidden.weight\" is not there"));
  EXPECT_EQ(with.averages(), before);
}

TEST_F(AverageTest, RefusesAFileWithAveragesThatARunHasNot) {
  Session with(false);
  steps(with, 2);
  save(with);
  Session without(false, false);
  const auto resumed = resume(without);
  ASSERT_FALSE(resumed);
  EXPECT_THAT(resumed.error().message,
              HasSubstr("it has the averages of 4 tensors, and none are kept "
                        "here"));
  EXPECT_THAT(resumed.error().message,
              Not(HasSubstr("tensors of the optimizer")));
}

TEST_F(AverageTest, RefusesToSaveAndResumeWhileTheyAreInPlace) {
  Session run(false);
  steps(run, 1);
  save(run);
  const optim::UseAverages averaged(*run.average);
  EXPECT_THROW(static_cast<void>(run.trainer->save(path())), ValueError);
  EXPECT_THROW(static_cast<void>(run.trainer->resume(path())), ValueError);
}

TEST_F(AverageTest, EvaluatesWithTheAverages) {
  Session run(false);
  steps(run, 6);
  const auto weights = run.net.hidden.weight().to_vector();
  const auto wanted = run.averages();
  {
    const optim::UseAverages averaged(*run.average);
    const auto now = run.net.hidden.weight().to_vector();
    EXPECT_TRUE(std::ranges::equal(now, wanted[0]));
    const Evaluation seen = evaluate(run.net, run.loader);
    EXPECT_EQ(seen.samples, 20);
  }
  EXPECT_EQ(run.net.hidden.weight().to_vector(), weights);
}

}  // namespace
}  // namespace neap::train
