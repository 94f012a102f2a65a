// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/checkpoint.hpp"

#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/lbfgs.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/train/save.hpp"
#include "neap/train/small_training_test.hpp"
#include "neap/train/state_hash.hpp"
#include "neap/train/trainer.hpp"

namespace neap::train {
namespace {

using files::system_door;
using ::testing::HasSubstr;

// A small run of a generator of its own.
struct Training {
  explicit Training(std::uint64_t seed = 7,
                    const optim::AdamOptions& options = {})
      : generator(seed), use(generator), adam(net.parameters(), options) {}

  std::uint64_t hash() const { return state_hash(net, adam, generator); }
  Checkpoint checkpoint(Facts facts = {}) {
    return {.model = net,
            .optimizer = adam,
            .generator = generator,
            .position = trainer.position(),
            .facts = std::move(facts)};
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      trainer.step();
    }
  }

  Generator generator;
  UseGenerator use;
  Sides data;
  Net net;
  optim::Adam adam;
  data::Loader loader{data, {.batch = 6, .shuffle = true, .seed = 1}};
  Trainer trainer{net, adam, loader};
};

class CheckpointTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("run.safetensors"); }
  Failure refusal(Training& run, const Facts& facts = {}) const {
    const std::uint64_t before = run.hash();
    Checkpoint checkpoint = run.checkpoint(facts);
    const Position position = checkpoint.position;
    const auto loaded = checkpoint.load(path());
    EXPECT_FALSE(loaded.has_value());
    EXPECT_EQ(run.hash(), before);
    EXPECT_EQ(checkpoint.position, position);
    return loaded ? Failure{FailureKind::kIo, ""} : loaded.error();
  }
  // Rewrites the file with other metadata.
  void change(const std::string& key, const std::string& value) const {
    auto file = formats::SafetensorsFile::open(system_door(), path()).value();
    std::vector<formats::NamedTensor> tensors;
    for (const formats::SafetensorsEntry& entry : file.entries()) {
      tensors.push_back({entry.name, file.read(entry).value()});
    }
    formats::Metadata metadata;
    for (const formats::MetadataItem& item : file.metadata()) {
      if (std::string_view(item.key) != key) {
        metadata.push_back(item);
      }
    }
    if (value != "none") {
      metadata.push_back({memory::String(key), memory::String(value)});
    }
    ASSERT_TRUE(
        formats::write_safetensors(system_door(), path(), tensors, metadata)
            .has_value());
  }

  files::TemporaryFolder folder_;
};

TEST_F(CheckpointTest, HoldsModelOptimizerRandomStateAndPlaceUnderTheirNames) {
  Training run;
  run.steps(5);
  ASSERT_TRUE(run.checkpoint({{"colour", "blue"}}).save(path()).has_value());
  const auto file =
      formats::SafetensorsFile::open(system_door(), path()).value();
  EXPECT_EQ(file.entries().size(), 5U + 2 * 4U);
  for (const char* name :
       {"hidden.weight", "scale", "optimizer.exp_avg.hidden.weight",
        "optimizer.exp_avg_sq.out.bias"}) {
    EXPECT_NE(file.find(name), nullptr) << name;
  }
  const auto text = [&](std::string_view key) {
    const memory::String* found = file.find_text(key);
    return std::string(found != nullptr ? std::string_view(*found) : "none");
  };
  EXPECT_EQ(text("neap.step"), "5");
  EXPECT_EQ(text("neap.epoch"), "1");  // batches of 6, 6, 6, 2
  EXPECT_EQ(text("neap.batch"), "1");
  EXPECT_EQ(text("neap.random.seed"), "7");
  EXPECT_EQ(text("neap.optimizer.updates.out.weight"), "5");
  EXPECT_EQ(text("neap.optimizer.rate.0"), "0.001");
  EXPECT_EQ(text("run.colour"), "blue");
}

TEST_F(CheckpointTest, LoadPutsEverythingBack) {
  Training saved;
  saved.steps(6);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  Training other(99);
  other.steps(2);  // with state of its own
  Training fresh(98);
  for (Training* run : {&other, &fresh}) {
    Checkpoint checkpoint = run->checkpoint();
    ASSERT_TRUE(checkpoint.load(path()).has_value());
    EXPECT_EQ(run->hash(), saved.hash());
    EXPECT_EQ(checkpoint.position, (Position{6, 1, 2}));
  }
}

TEST_F(CheckpointTest, BeforeTheFirstStepThereIsNoState) {
  Training saved;
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  Training other(99);
  other.steps(3);
  ASSERT_TRUE(other.checkpoint().load(path()).has_value());
  EXPECT_EQ(other.hash(), saved.hash());
}

TEST_F(CheckpointTest, ItsModelCanBeLoadedByItself) {
  Training saved;
  saved.steps(3);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  Net net;
  const auto report = neap::load(net, path());
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->unexpected.empty());
  EXPECT_EQ(net.hidden.parameter("weight").to_vector(),
            saved.net.hidden.parameter("weight").to_vector());
}

TEST_F(CheckpointTest, AFileThatIsNoCheckpointIsRefused) {
  Training run;
  ASSERT_TRUE(neap::save(run.net, path()).has_value());
  const Failure failure = refusal(run);
  EXPECT_EQ(failure.kind, FailureKind::kUnsupported);
  EXPECT_THAT(failure.message, HasSubstr("no checkpoint"));
  ASSERT_TRUE(run.checkpoint().save(path()).has_value());
  change("neap.checkpoint", "2");
  EXPECT_EQ(refusal(run).kind, FailureKind::kUnsupported);
}

TEST_F(CheckpointTest, WhatDiffersIsNamed) {
  Training saved;
  saved.steps(1);
  const Facts facts = {{"batch", "16"}, {"width", "8"}};
  ASSERT_TRUE(saved.checkpoint(facts).save(path()).has_value());
  Training run(8);
  const auto says = [&](const Facts& here, const char* text) {
    const Failure failure = refusal(run, here);
    EXPECT_EQ(failure.kind, FailureKind::kMismatch);
    EXPECT_THAT(failure.message, HasSubstr(text));
  };
  says({{"batch", "32"}, {"width", "8"}}, "batch is 16 there, 32 here");
  says({{"batch", "16"}}, "width is 8 there, not said here");
  says({{"batch", "16"}, {"width", "8"}, {"depth", "2"}},
       "depth is not said there, 2 here");
  says({{"batch", "1\n2"}, {"width", "8"}}, "batch is 16 there, 1\\n2 here");
  const std::string many(1000, 'n');
  const Failure cut = refusal(run, {{"batch", memory::String(many)}});
  EXPECT_LT(cut.message.size(), 600U);
  Training other(8, {.weight_decay = 0.5});
  const Failure failure = refusal(other, facts);
  EXPECT_THAT(failure.message, HasSubstr("weight_decay=0.5"));
}

TEST_F(CheckpointTest, NotesAreKeptAndNotCompared) {
  Training saved;
  saved.steps(1);
  const Facts facts = {{"note.path", "a.txt"}, {"batch", "16"}};
  ASSERT_TRUE(saved.checkpoint(facts).save(path()).has_value());
  for (const Facts& here :
       {Facts{{"batch", "16"}}, Facts{{"note.path", "b.txt"}, {"batch", "16"}},
        Facts{{"batch", "16"}, {"note.target", "price"}}}) {
    Training run(8);
    EXPECT_TRUE(run.checkpoint(here).load(path()).has_value());
  }
  const auto file = formats::SafetensorsFile::open(files::system_door(), path(),
                                                   formats::Verify::kOn);
  ASSERT_TRUE(file.has_value());
  const memory::String* note = find_fact(*file, "note.path");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(*note, "a.txt");
}

TEST_F(CheckpointTest, AnotherModelAndAnotherOptimizerAreRefused) {
  Training saved;
  saved.steps(1);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  nn::Linear linear(2, 8);
  optim::Adam adam(linear.parameters());
  Checkpoint model{
      .model = linear, .optimizer = adam, .generator = saved.generator};
  auto loaded = model.load(path());
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().message, HasSubstr("\"weight\" is not there"));
  optim::SGD sgd(saved.net.parameters(), {.momentum = 0.9});
  Checkpoint optimizer{
      .model = saved.net, .optimizer = sgd, .generator = saved.generator};
  loaded = optimizer.load(path());
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().message, HasSubstr("the optimizer is Adam("));
  EXPECT_THAT(loaded.error().message, HasSubstr("SGD(momentum=0.9"));
}

TEST_F(CheckpointTest, NumbersThatCannotBeAreRefused) {
  Training run;
  run.steps(2);
  for (const char* key :
       {"neap.step", "neap.epoch", "neap.batch", "neap.random.seed",
        "neap.random.draw", "neap.optimizer.steps", "neap.optimizer.rate.0",
        "neap.optimizer.updates.out.bias"}) {
    for (const char* value : {"none", "", "-1", "x", "1x", " 1", "nan", "inf",
                              "0x1p3", "99999999999999999999999999"}) {
      if (std::string_view(key) == "neap.optimizer.rate.0" &&
          std::string_view(value) == "99999999999999999999999999") {
        continue;  // a rate like any other
      }
      ASSERT_TRUE(run.checkpoint().save(path()).has_value());
      change(key, value);
      const Failure failure = refusal(run);
      EXPECT_EQ(failure.kind, FailureKind::kCorrupt) << key << " " << value;
      EXPECT_THAT(failure.message, HasSubstr(key));
    }
  }
}

TEST_F(CheckpointTest, NumbersAtTheirBoundsAreAccepted) {
  Training run;
  run.steps(2);
  ASSERT_TRUE(run.checkpoint().save(path()).has_value());
  change("neap.step", "4611686018427387904");
  change("neap.optimizer.rate.0", "0");
  Checkpoint checkpoint = run.checkpoint();
  ASSERT_TRUE(checkpoint.load(path()).has_value());
  EXPECT_EQ(checkpoint.position.step, std::int64_t{1} << 62);
  change("neap.step", "4611686018427387905");
  EXPECT_EQ(refusal(run).kind, FailureKind::kCorrupt);
}

TEST_F(CheckpointTest, StateInPartsIsRefused) {
  Training run;
  run.steps(1);
  ASSERT_TRUE(run.checkpoint().save(path()).has_value());
  auto file = formats::SafetensorsFile::open(system_door(), path()).value();
  for (const std::string left_out : {"optimizer.exp_avg.out.bias", "scale"}) {
    std::vector<formats::NamedTensor> tensors;
    for (const formats::SafetensorsEntry& entry : file.entries()) {
      if (std::string_view(entry.name) != left_out) {
        tensors.push_back({entry.name, file.read(entry).value()});
      }
    }
    ASSERT_TRUE(formats::write_safetensors(system_door(), path(), tensors,
                                           file.metadata())
                    .has_value());
    EXPECT_EQ(refusal(run).kind, FailureKind::kMismatch);
  }
}

TEST_F(CheckpointTest, StateThatTheOptimizerDoesNotKnowIsRefused) {
  Training run;
  run.steps(1);
  ASSERT_TRUE(run.checkpoint().save(path()).has_value());
  auto file = formats::SafetensorsFile::open(system_door(), path()).value();
  std::vector<formats::NamedTensor> tensors = {
      {"optimizer.momentum.out.bias", zeros({2})}};
  for (const formats::SafetensorsEntry& entry : file.entries()) {
    tensors.push_back({entry.name, file.read(entry).value()});
  }
  ASSERT_TRUE(formats::write_safetensors(system_door(), path(), tensors,
                                         file.metadata())
                  .has_value());
  const Failure failure = refusal(run);
  EXPECT_EQ(failure.kind, FailureKind::kMismatch);
  EXPECT_THAT(failure.message, HasSubstr("1 tensors of the optimizer"));
}

// Older files, without checksums, have the optimizer's own names.
TEST_F(CheckpointTest, TheOptimizersOwnNamesAreNotTakenForTheModels) {
  Net net;
  optim::SGD sgd(net.out.parameters(), {});
  Checkpoint checkpoint{
      .model = net, .optimizer = sgd, .generator = generator_};
  ASSERT_TRUE(checkpoint.save(path()).has_value());
  ASSERT_TRUE(checkpoint.load(path()).has_value());
  change("neap.optimizer.updates.out.bias", "none");
  change("neap.optimizer.updates.bias", "0");
  for (const auto verify : {formats::Verify::kOn, formats::Verify::kOff}) {
    checkpoint.verify = verify;
    EXPECT_FALSE(checkpoint.load(path()).has_value());
  }
}

TEST_F(CheckpointTest, AModelWhoseNamesWouldBeTheOptimizersIsRefused) {
  struct Clash : nn::Module {
    nn::Linear part{2, 2};
    Clash() { register_module("optimizer", part); }
  };
  Clash clash;
  optim::Adam adam(clash.parameters());
  const Checkpoint checkpoint{
      .model = clash, .optimizer = adam, .generator = generator_};
  EXPECT_THROW(static_cast<void>(checkpoint.save(path())), NameError);
  nn::Linear other(2, 2);
  for (const std::size_t strange : {0U, 1U}) {
    ParameterList updated = other.parameters();
    updated[strange] = clash.part.parameters()[strange];
    optim::Adam mixed(updated);
    const Checkpoint apart{
        .model = other, .optimizer = mixed, .generator = generator_};
    EXPECT_THROW(static_cast<void>(apart.save(path())), ValueError);
  }
}

TEST_F(CheckpointTest, EveryFaultOfASaveLeavesAWholeFile) {
  Training run;
  run.steps(1);
  const std::uint64_t first = run.hash();
  ASSERT_TRUE(run.checkpoint().save(path()).has_value());
  const std::string old_file = folder_.get("run.safetensors");
  run.steps(1);
  const std::uint64_t second = run.hash();
  Training back(3);
  for (const bool is_killed : {false, true}) {
    std::int64_t n = 1;
    for (bool is_done = false; !is_done; ++n) {
      folder_.put("run.safetensors", old_file);
      files::FaultDoor door(system_door(), {.fail_at = is_killed ? 0 : n,
                                            .stop_at = is_killed ? n : 0});
      is_done = run.checkpoint().save(path(), door).has_value();
      ASSERT_TRUE(back.checkpoint().load(path()).has_value()) << n;
      EXPECT_TRUE(back.hash() == second || (!is_done && back.hash() == first));
      EXPECT_EQ(run.hash(), second);
    }
    EXPECT_GT(n, 20);
  }
}

TEST_F(CheckpointTest, EveryFaultOfALoadLeavesTheRunUnchanged) {
  Training saved;
  saved.steps(3);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  for (const int steps : {0, 2}) {
    Training run(99);
    run.steps(steps);
    const std::uint64_t before = run.hash();
    std::int64_t n = 1;
    for (;; ++n) {
      files::FaultDoor door(system_door(), {.fail_at = n});
      if (run.checkpoint().load(path(), door).has_value()) {
        break;
      }
      ASSERT_EQ(run.hash(), before) << n;
    }
    EXPECT_GT(n, 14);
    EXPECT_EQ(run.hash(), saved.hash());
  }
}

TEST_F(CheckpointTest, EveryRefusalOfMemoryLeavesFileAndRunAsTheyWere) {
  Training saved;
  saved.steps(3);
  ASSERT_TRUE(saved.checkpoint().save(path()).has_value());
  const std::string whole = folder_.get("run.safetensors");
  const auto written = testing::sweep_allocation_failures(
      *domain_,
      [&] { ASSERT_TRUE(saved.checkpoint().save(path()).has_value()); },
      [&](std::int64_t) { EXPECT_EQ(folder_.get("run.safetensors"), whole); });
  EXPECT_TRUE(written.ok()) << written.problems.front();
  EXPECT_GT(written.failures, 30);
  Training run(99);
  const std::uint64_t before = run.hash();
  const auto read = testing::sweep_allocation_failures(
      *domain_, [&] { ASSERT_TRUE(run.checkpoint().load(path()).has_value()); },
      [&](std::int64_t n) { ASSERT_EQ(run.hash(), before) << n; });
  EXPECT_TRUE(read.ok()) << read.problems.front();
  EXPECT_GT(read.failures, 50);
  EXPECT_EQ(run.hash(), saved.hash());
}

// An optimizer whose step takes a closure, and whose state has other shapes
// than its parameters.
struct WholeBatch {
  double step() {
    const UseGenerator using_it(generator);
    loader.start(0);
    const data::Batch& batch = *loader.next();
    return lbfgs.step([&] {
      lbfgs.zero_grad();
      Tensor loss = cross_entropy(net(batch.input), batch.target);
      backward(loss);
      return loss;
    });
  }
  Checkpoint checkpoint() {
    return {.model = net, .optimizer = lbfgs, .generator = generator};
  }

  Generator generator{7};
  UseGenerator use{generator};
  Sides data;
  Net net;
  optim::LBFGS lbfgs{net.parameters(), {.max_iter = 3, .history_size = 2}};
  data::Loader loader{data, {.batch = 20}};
};

TEST_F(CheckpointTest, LbfgsContinuesInTheSameBits) {
  WholeBatch whole;
  whole.net.eval();
  for (int i = 0; i < 3; ++i) {
    whole.step();
  }
  ASSERT_TRUE(whole.checkpoint().save(path()));
  WholeBatch rest;
  rest.net.eval();
  const auto loaded = rest.checkpoint().load(path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(whole.step(), rest.step());
  }
  EXPECT_EQ(state_hash(whole.net, whole.lbfgs, whole.generator),
            state_hash(rest.net, rest.lbfgs, rest.generator));
}

TEST_F(CheckpointTest, ATrainerDoesNotStepLbfgsWhichNeedsAClosure) {
  WholeBatch run;
  Trainer trainer(run.net, run.lbfgs, run.loader);
  const std::uint64_t before = state_hash(run.net, run.lbfgs, run.generator);
  EXPECT_THROW(trainer.step(), ValueError);
  EXPECT_EQ(state_hash(run.net, run.lbfgs, run.generator), before);
}

}  // namespace
}  // namespace neap::train
