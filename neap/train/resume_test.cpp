// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Runs that are interrupted anywhere and resumed end in the bits of one that
// was not.
#include <gmock/gmock.h>

#include <functional>
#include <memory>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/optim/adafactor.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/muon.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/small_training_test.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::train {
namespace {

using ::testing::HasSubstr;

using MakeOptimizer =
    std::function<std::unique_ptr<optim::Optimizer>(const ParameterList&)>;

struct Kind {
  const char* name;
  MakeOptimizer make;
};

std::vector<Kind> kinds() {
  return {{"sgd",
           [](const ParameterList& list) {
             return std::make_unique<optim::SGD>(
                 list, optim::SGDOptions{
                           .lr = 0.1, .momentum = 0.9, .dampening = 0.1});
           }},
          {"adam",
           [](const ParameterList& list) {
             return std::make_unique<optim::Adam>(
                 list, optim::AdamOptions{.lr = 0.02});
           }},
          {"adafactor",
           [](const ParameterList& list) {
             return std::make_unique<optim::Adafactor>(
                 list, optim::AdafactorOptions{.lr = 0.02});
           }},
          {"muon",
           [](const ParameterList& list) {
             const auto part = [&](bool is_matrix) {
               ParameterList out;
               for (const Parameter& one : list) {
                 if ((one.tensor.rank() >= 2) == is_matrix) {
                   out.push_back(one);
                 }
               }
               return out;
             };
             auto muon = std::make_unique<optim::Muon>(
                 part(true), optim::MuonOptions{.lr = 0.02});
             muon->add_group(part(false), {.lr = 0.02, .by_adam = true});
             return muon;
           }},
          {"adamw", [](const ParameterList& list) {
             return std::make_unique<optim::AdamW>(
                 list, optim::AdamOptions{.lr = 0.02, .weight_decay = 0.1});
           }}};
}

// Outcome of a program that trains: everything is made anew each time. 20
// samples in batches of 6 are four steps an epoch.
struct Outcome {
  FitResult result;
  std::uint64_t hash = 0;
};

Outcome train_once(const FitOptions& options, const Kind& kind,
                   const data::LoaderOptions& order = {
                       .batch = 6, .shuffle = true, .seed = 1}) {
  Generator generator(7);
  const UseGenerator use(generator);
  const Sides data;
  Net net;
  const auto optimizer = kind.make(net.parameters());
  data::Loader loader(data, order);
  Outcome out;
  out.result = fit(net, *optimizer, loader, options);
  out.hash = state_hash(net, *optimizer, generator);
  return out;
}

class ResumeTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("run.safetensors"); }
  // A run of ten steps.
  static FitOptions ten_steps(bool compile) {
    FitOptions options;
    options.steps = 10;
    options.trainer.compile = compile;
    options.trainer.clip_norm = 0.5;
    options.trainer.learning_rate = optim::cosine(0.05, 10, 3);
    return options;
  }
  FitOptions stopped_after(std::int64_t steps, bool compile) const {
    FitOptions options = ten_steps(compile);
    options.save.path = path();
    options.on_step = [steps](const StepReport& report) {
      return report.step == steps ? Next::kStop : Next::kContinue;
    };
    return options;
  }
  FitOptions resumed(bool compile) const {
    FitOptions options = ten_steps(compile);
    options.resume = path();
    return options;
  }

  files::TemporaryFolder folder_;
};

TEST_F(ResumeTest, AnyStepGoesOnWithTheSameBits) {
  for (const Kind& kind : kinds()) {
    const std::uint64_t whole = train_once(ten_steps(false), kind).hash;
    for (const bool compile : {false, true}) {
      for (std::int64_t step = 1; step <= 10; ++step) {
        const Outcome first = train_once(stopped_after(step, compile), kind);
        EXPECT_EQ(first.result.steps, step);
        const Outcome second = train_once(resumed(compile), kind);
        EXPECT_EQ(second.result.resumed, step);
        EXPECT_EQ(second.result.steps, 10);
        EXPECT_EQ(second.hash, whole)
            << kind.name << " " << compile << " " << step;
      }
    }
  }
}

TEST_F(ResumeTest, AnEagerRunGoesOnCompiledAndTheOtherWay) {
  const Kind kind = kinds()[1];
  const std::uint64_t whole = train_once(ten_steps(false), kind).hash;
  for (const bool compile : {false, true}) {
    train_once(stopped_after(5, compile), kind);
    EXPECT_EQ(train_once(resumed(!compile), kind).hash, whole);
  }
}

TEST_F(ResumeTest, ARateSetByHandGoesOn) {
  const Kind kind = kinds()[1];
  const auto run = [&](FitOptions options) {
    options.trainer.learning_rate = {};
    return train_once(options, kind).hash;
  };
  const std::uint64_t whole = run(ten_steps(false));
  run(stopped_after(4, false));
  EXPECT_EQ(run(resumed(false)), whole);
}

TEST_F(ResumeTest, ATrainerThatHasBegunContinuesWhereTheFileIs) {
  for (const bool compile : {false, true}) {
    Generator generator(7);
    const UseGenerator use(generator);
    const Sides data;
    Net net;
    optim::Adam adam(net.parameters());
    data::Loader loader(data, {.batch = 6, .shuffle = true, .seed = 1});
    Trainer trainer(net, adam, loader, {.compile = compile});
    std::vector<std::uint64_t> hashes;
    const auto step = [&] {
      trainer.step();
      hashes.push_back(state_hash(net, adam, generator));
    };
    for (int i = 0; i < 3; ++i) {
      step();
    }
    ASSERT_TRUE(trainer.save(path()).has_value());
    const Position position = trainer.position();
    for (int i = 0; i < 3; ++i) {
      step();
    }
    ASSERT_TRUE(trainer.resume(path()).has_value());
    EXPECT_EQ(trainer.position(), position);
    for (int i = 0; i < 3; ++i) {
      step();
    }
    for (std::size_t i = 3; i < 6; ++i) {
      EXPECT_EQ(hashes[i + 3], hashes[i]) << compile << " " << i;
    }
  }
}

TEST_F(ResumeTest, APreparedTrainerSavesThePlaceBeforeTheBatchItHolds) {
  Generator generator(7);
  const UseGenerator use(generator);
  const Sides data;
  Net net;
  optim::Adam adam(net.parameters());
  data::Loader loader(data, {.batch = 6});
  Trainer trainer(net, adam, loader, {.compile = true});
  trainer.prepare();
  EXPECT_EQ(trainer.position(), (Position{0, 0, 0}));
  for (int i = 0; i < 4; ++i) {
    trainer.step();
  }
  EXPECT_EQ(trainer.position(), (Position{4, 0, 4}));
  trainer.step();
  EXPECT_EQ(trainer.position(), (Position{5, 1, 1}));
}

TEST_F(ResumeTest, AFinishedRunHasNothingLeftToDo) {
  const Kind kind = kinds()[0];
  FitOptions options = ten_steps(false);
  options.save.path = path();
  const Outcome first = train_once(options, kind);
  const Outcome second = train_once(resumed(false), kind);
  EXPECT_EQ(second.result.steps, 10);
  EXPECT_EQ(second.result.resumed, 10);
  EXPECT_EQ(second.result.seconds, 0.0);
  EXPECT_EQ(second.hash, first.hash);
}

TEST_F(ResumeTest, AReaderThreadChangesNothing) {
  const Kind kind = kinds()[2];
  const data::LoaderOptions ahead{
      .batch = 6, .shuffle = true, .seed = 1, .prefetch = 2};
  const std::uint64_t whole = train_once(ten_steps(false), kind).hash;
  for (std::int64_t step = 3; step <= 5; ++step) {  // around an epoch's end
    train_once(stopped_after(step, true), kind, ahead);
    EXPECT_EQ(train_once(resumed(false), kind).hash, whole);
    train_once(stopped_after(step, false), kind);
    EXPECT_EQ(train_once(resumed(true), kind, ahead).hash, whole);
  }
}

TEST_F(ResumeTest, ARunOfOtherDataIsRefusedByName) {
  const Kind kind = kinds()[0];
  train_once(stopped_after(3, false), kind);
  const auto says = [&](const data::LoaderOptions& order, const char* text) {
    const Outcome out = train_once(resumed(false), kind, order);
    ASSERT_TRUE(out.result.resume_failure.has_value());
    EXPECT_EQ(out.result.resume_failure->kind, FailureKind::kMismatch);
    EXPECT_THAT(out.result.resume_failure->message, HasSubstr(text));
    EXPECT_EQ(out.result.steps, 0);
  };
  says({.batch = 5, .shuffle = true, .seed = 1}, "batch is 6 there, 5 here");
  says({.batch = 6, .shuffle = true, .seed = 2}, "seed is 1 there, 2 here");
  says({.batch = 6, .seed = 1}, "shuffle is 1 there, 0 here");
}

// As many samples of the same form, and what they hold.
struct MarkedSides : Sides {
  std::uint64_t mark = 0;
  std::uint64_t fingerprint() const { return mark; }
};

TEST_F(ResumeTest, DataThatHoldSomethingElseAreRefused) {
  const auto resume = [&](std::uint64_t mark, const std::string& from) {
    Generator generator(7);
    const UseGenerator use(generator);
    MarkedSides data;
    data.mark = mark;
    Net net;
    optim::Adam adam(net.parameters());
    data::Loader loader(data, {.batch = 6});
    Trainer trainer(net, adam, loader);
    if (from.empty()) {
      return trainer.save(path());
    }
    return trainer.resume(from);
  };
  ASSERT_TRUE(resume(0xAB, "").has_value());
  EXPECT_TRUE(resume(0xAB, path()).has_value());
  const auto refused = resume(0xAC, path());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, FailureKind::kMismatch);
  EXPECT_THAT(refused.error().message,
              HasSubstr("the data hold something else (their XXH3 is "
                        "00000000000000ab there, 00000000000000ac here)"));
}

TEST_F(ResumeTest, SavesAsOftenAsAskedFor) {
  FitOptions options = ten_steps(false);
  options.save = {.path = path(), .every_steps = 3};
  std::vector<std::string> saved;  // the step in the file before each step
  options.on_step = [&](const StepReport&) {
    const auto file =
        formats::SafetensorsFile::open(files::system_door(), path());
    saved.emplace_back(file ? std::string_view(*file->find_text("neap.step"))
                            : "none");
    return Next::kContinue;
  };
  train_once(options, kinds()[0]);
  EXPECT_THAT(saved, ::testing::ElementsAre("none", "none", "none", "3", "3",
                                            "3", "6", "6", "6", "9"));
  options.on_step = {};
  options.save = {.path = folder_.at("b"), .every_seconds = 1e-9};
  files::FaultDoor door(files::system_door());
  options.door = &door;
  train_once(options, kinds()[0]);
  EXPECT_GT(door.operations(), 100);
}

TEST_F(ResumeTest, ASaveThatFailsIsTriedAgainAndTheRunGoesOn) {
  const Kind kind = kinds()[1];
  FitOptions options = ten_steps(false);
  options.save = {.path = path(), .every_steps = 4};
  files::FaultDoor once(files::system_door(), {.fail_at = 5});
  options.door = &once;
  Outcome out = train_once(options, kind);
  EXPECT_FALSE(out.result.save_failure.has_value());
  EXPECT_EQ(out.hash, train_once(resumed(false), kind).hash);
  files::FaultDoor never(files::system_door(), {.stop_at = 1});
  options.door = &never;
  out = train_once(options, kind);
  ASSERT_TRUE(out.result.save_failure.has_value());
  EXPECT_EQ(out.result.steps, 10);
}

TEST_F(ResumeTest, AFileThatIsNotThereIsAFailure) {
  const Outcome out = train_once(resumed(false), kinds()[0]);
  ASSERT_TRUE(out.result.resume_failure.has_value());
  EXPECT_EQ(out.result.resume_failure->kind, FailureKind::kNotFound);
}

}  // namespace
}  // namespace neap::train
