// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A load of what is in a step's file, where a disk or the memory fails, or the
// file that is loaded is a bad one: nothing has changed, or the error says what
// has.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "neap/compile/away_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Bytes kRoom = 1000 * kKiB;
constexpr std::int64_t kTries = 3;  // of an operation of a step's file

class AwayLoadFaultsTest : public AwayTest {
 protected:
  // A run of two steps, saved.
  AwayLoadFaultsTest() : spill_(spill()) {
    AwayNet plain;
    auto whole = plain.compiled({});
    plain.run(whole);
    plain.run(whole);
    const AwayNet::Here here(plain);
    AwayModel model(plain);
    EXPECT_TRUE(train::Checkpoint({model, *plain.adam, plain.generator})
                    .save(path())
                    .has_value());
    saved_ = hash(plain);
  }

  std::string path() const { return folder.path() + "/run"; }
  static std::uint64_t hash(AwayNet& net) {
    const AwayNet::Here here(net);
    return train::state_hash(AwayModel(net), *net.adam, net.generator);
  }
  neap::Result<void> load(AwayNet& net, files::Door& door,
                          formats::Verify verify = formats::Verify::kOn) const {
    const AwayNet::Here here(net);
    AwayModel model(net);
    train::Checkpoint checkpoint{.model = model,
                                 .optimizer = *net.adam,
                                 .generator = net.generator,
                                 .verify = verify};
    return checkpoint.load(path(), door);
  }
  static void step(AwayNet& net, const SpillOptions& spill) {
    net.domain->trim();
    auto step =
        net.compiled({.budget = net.in_use() + 1400 * kKiB, .spill = spill});
    net.run(step);
  }
  // A net with weights in the file, and with state there, too, or none yet.
  std::unique_ptr<AwayNet> made(const SpillOptions& spill, bool has_state) {
    auto net = std::make_unique<AwayNet>(false, &spill, kRoom);
    if (has_state) {
      step(*net, spill);
    }
    return net;
  }
  void expect_away(const AwayNet& net, bool has_state) const {
    EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
    EXPECT_EQ(net.away(), has_state ? AwayNet::kMoments : 0);
  }

  SpillOptions spill_;
  std::uint64_t saved_ = 0;
};

TEST_F(AwayLoadFaultsTest, EveryFaultOfTheFileThatIsReadChangesNothing) {
  for (const bool has_state : {false, true}) {
    const auto net = made(spill_, has_state);
    const std::uint64_t before = hash(*net);
    std::int64_t n = 1;
    for (;; ++n) {
      files::FaultDoor door(files::system_door(), {.fail_at = n});
      if (load(*net, door).has_value()) {
        break;
      }
      ASSERT_EQ(hash(*net), before) << n;
      expect_away(*net, has_state);
    }
    EXPECT_GT(n, 2 * AwayNet::kLayers + AwayNet::kMoments);
    EXPECT_EQ(hash(*net), saved_);
    expect_away(*net, true);
  }
}

TEST_F(AwayLoadFaultsTest, EveryFaultOfTheStepsFileChangesNothing) {
  for (const bool has_state : {false, true}) {
    std::uint64_t before = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    {
      files::FaultDoor door(files::system_door());
      SpillOptions spill = spill_;
      spill.door = &door;
      const auto net = made(spill, has_state);
      first = door.operations() + 1;
      ASSERT_TRUE(load(*net, files::system_door()).has_value());
      last = door.operations();
      const auto again = made(spill, has_state);
      before = hash(*again);
    }
    ASSERT_GT(last, first + AwayNet::kLayers);
    int failures = 0;
    for (std::int64_t n = first; n <= last; n += 9) {
      files::FaultDoor door(files::system_door(),
                            {.fail_at = n, .failures = kTries});
      SpillOptions spill = spill_;
      spill.door = &door;
      const auto net = made(spill, has_state);
      try {
        ASSERT_TRUE(load(*net, files::system_door()).has_value());
        EXPECT_EQ(hash(*net), saved_) << n;
      } catch (const IoError&) {
        ++failures;
        EXPECT_EQ(hash(*net), before) << n;
        expect_away(*net, has_state);
      }
      ASSERT_TRUE(load(*net, files::system_door()).has_value()) << n;
      EXPECT_EQ(hash(*net), saved_) << n;
    }
    EXPECT_GT(failures, 3);
  }
}

// A load before has made the file's books as long as they become.
TEST_F(AwayLoadFaultsTest, EveryRefusalOfMemoryChangesNothing) {
  const auto net = made(spill_, true);
  ASSERT_TRUE(load(*net, files::system_door()).has_value());
  step(*net, spill_);
  const std::uint64_t before = hash(*net);
  const auto swept = testing::sweep_allocation_failures(
      *net->domain,
      [&] { ASSERT_TRUE(load(*net, files::system_door()).has_value()); },
      [&](std::int64_t n) {
        if (n % 16 == 0) {
          EXPECT_EQ(hash(*net), before) << n;
        }
        expect_away(*net, true);
      });
  EXPECT_TRUE(swept.ok()) << swept.problems.front();
  EXPECT_GT(swept.failures, 50);
  EXPECT_EQ(hash(*net), saved_);
}

TEST_F(AwayLoadFaultsTest, ADamagedFileChangesNothing) {
  std::string content;
  {
    std::ifstream file(path(), std::ios::binary);
    content = {std::istreambuf_iterator<char>(file), {}};
  }
  const auto net = made(spill_, true);
  const std::uint64_t before = hash(*net);
  for (std::size_t at = 9; at < content.size(); at += content.size() / 23) {
    std::string changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    std::ofstream(path(), std::ios::binary) << changed;
    EXPECT_FALSE(load(*net, files::system_door()).has_value()) << at;
    EXPECT_EQ(hash(*net), before) << at;
    expect_away(*net, true);
  }
  std::ofstream(path(), std::ios::binary) << content;
  ASSERT_TRUE(load(*net, files::system_door()).has_value());
  EXPECT_EQ(hash(*net), saved_);
}

// Elements that a disk has lost are whole again.
TEST_F(AwayLoadFaultsTest, ALoadMakesWholeWhatIsLost) {
  files::FaultDoor door(files::system_door(), {.lie_at = 1, .lies = 1 << 30});
  SpillOptions spill = spill_;
  spill.door = &door;
  const auto net = made(spill, false);
  EXPECT_THROW(hash(*net), IoError);
  ASSERT_TRUE(load(*net, files::system_door()).has_value());
  expect_away(*net, true);
}

// --- tensors in memory, without memory for copies ----------------------------

class TornLoadTest : public AwayLoadFaultsTest {
 protected:
  TornLoadTest() {
    auto step = net_.compiled({});
    net_.run(step);
    net_.run(step);
    net_.run(step);
    before_ = hash(net_);
  }
  neap::Result<void> load_tight(files::Door& door) {
    net_.domain->trim();
    const Budget limit(net_.in_use() + 300 * kKiB, *net_.domain);
    return load(net_, door);
  }

  AwayNet net_;
  std::uint64_t before_ = 0;
};

TEST_F(TornLoadTest, ABadFileIsFoundBeforeAnythingIsWritten) {
  std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-3, std::ios::end);
  file.put('\x55');
  file.close();
  EXPECT_FALSE(load_tight(files::system_door()).has_value());
  EXPECT_EQ(hash(net_), before_);
}

TEST_F(TornLoadTest, EveryFaultChangesNothingOrSaysWhatItHas) {
  int torn = 0;
  for (std::int64_t n = 1;; n += 7) {
    files::FaultDoor door(files::system_door(), {.fail_at = n});
    try {
      if (load_tight(door).has_value() && door.operations() < n) {
        break;
      }
      if (torn == 0) {
        EXPECT_EQ(hash(net_), before_) << n;
      }
    } catch (const TornLoad& error) {
      ++torn;
      EXPECT_THAT(error.what(), HasSubstr("parts of two states"));
    }
  }
  EXPECT_GT(torn, AwayNet::kLayers);
  EXPECT_EQ(hash(net_), saved_);
}

// Checksums or none: what is read twice has to be the same.
TEST_F(TornLoadTest, AFileThatChangesMeanwhileIsFound) {
  for (const std::int64_t read : {10, 500}) {  // in the first look, and later
    files::FaultDoor door(files::system_door(), {.lie_at = read});
    net_.domain->trim();
    const Budget limit(net_.in_use() + 300 * kKiB, *net_.domain);
    EXPECT_THROW(static_cast<void>(load(net_, door, formats::Verify::kOff)),
                 TornLoad)
        << read;
  }
}

TEST_F(TornLoadTest, TheErrorNamesWhatIsNotLoaded) {
  files::FaultDoor count(files::system_door());
  ASSERT_TRUE(load_tight(count).has_value());
  auto step = net_.compiled({});
  net_.run(step);
  const Rows old = net_.values();
  // The last operation closes the file, and the one before reads the last part.
  files::FaultDoor door(files::system_door(),
                        {.fail_at = count.operations() - 1});
  try {
    static_cast<void>(load_tight(door));
    FAIL() << "it was loaded";
  } catch (const TornLoad& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("optimizer.exp_avg_sq.w7"),
                      Not(HasSubstr("as before")), Not(HasSubstr("w6"))));
  }
  EXPECT_NE(net_.values(), old);
  ASSERT_TRUE(load_tight(files::system_door()).has_value());
  EXPECT_EQ(hash(net_), saved_);
}

}  // namespace
}  // namespace neap::compiler
