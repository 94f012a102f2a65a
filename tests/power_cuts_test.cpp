// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The power is cut after each operation of a save, and the disk has kept more
// or less of what was not synced: the file is the old one or the new one,
// whole.
#include "power_cuts.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "neap/files/temporary_folder.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/linear.hpp"
#include "neap/optim/adam.hpp"
#include "neap/planner/csv.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/metrics.hpp"
#include "neap/train/save.hpp"
#include "text_file.hpp"

namespace neap::tests {
namespace {

using files::Door;
using Save = std::function<Result<void>(Door&, const std::string&)>;

class PowerCutsTest : public DoorTest {
 protected:
  std::string path() const { return folder_.at("file"); }

  // The old file and the new one are what `save` writes at its first and its
  // second call.
  void expect_old_or_new(const Save& save, bool has_old) {
    if (has_old) {
      ASSERT_TRUE(save(files::system_door(), path()).has_value());
    }
    Disk before;
    if (has_old) {
      before[path()] = folder_.get("file");
    }
    RecordingDoor door(files::system_door());
    const auto saved = save(door, path());
    ASSERT_TRUE(saved.has_value()) << saved.error().message;
    const std::string new_file = folder_.get("file");
    ASSERT_TRUE(!has_old || before[path()] != new_file);
    const std::size_t all = door.operations().size();
    ASSERT_GE(all, 5U);
    for (const AfterCut kept : kEveryAfterCut) {
      for (std::size_t count = 0; count <= all; ++count) {
        const Disk disk = disk_after(before, door.operations(), count, kept);
        const auto found = disk.find(path());
        const bool is_old =
            has_old ? found != disk.end() && found->second == before[path()]
                    : found == disk.end();
        const bool is_new = found != disk.end() && found->second == new_file;
        EXPECT_TRUE(is_new || (is_old && count < all))
            << "after " << count << " of " << all << " operations, rule "
            << static_cast<int>(kept);
      }
    }
  }
  void expect_old_or_new(const Save& save) {
    expect_old_or_new(save, false);
    expect_old_or_new(save, true);
  }

  files::TemporaryFolder folder_;
};

TEST_F(PowerCutsTest, LeaveACheckpointOldOrNew) {
  nn::Linear net(300, 20);
  optim::Adam adam(net.parameters());
  train::Checkpoint checkpoint{
      .model = net,
      .optimizer = adam,
      .generator = generator_,
      // The vocabulary of a text is one of the facts.
      .facts = {{"symbols", "characters"}, {"characters", "\n abc\xC3\xA9"}}};
  expect_old_or_new([&](Door& door, const std::string& path) {
    for (const Parameter& parameter : net.parameters()) {
      neap::set_grad(parameter.tensor, ones_like(parameter.tensor));
    }
    adam.step();
    ++checkpoint.position.step;
    return checkpoint.save(path, door);
  });
}

TEST_F(PowerCutsTest, LeaveAModelOldOrNew) {
  nn::Linear net(300, 20);
  memory::String count("0");
  expect_old_or_new([&](Door& door, const std::string& path) {
    count += "1";
    return neap::save(net, path,
                      {.metadata = {{"count", count}}, .door = &door});
  });
}

TEST_F(PowerCutsTest, LeaveTensorsOldOrNew) {
  Tensor x = zeros({5000});
  expect_old_or_new([&](Door& door, const std::string& path) {
    x.mutable_values<float>()[0] += 1.0F;
    return formats::write_safetensors(door, path,
                                      std::array{formats::NamedTensor{"x", x}});
  });
}

// Texts are written as the tool writes a summary and a plan.
TEST_F(PowerCutsTest, LeaveTextsOldOrNew) {
  std::string json = "{\n";
  expect_old_or_new([&](Door& door, const std::string& path) {
    json += "  \"steps\": 1,\n";
    return app::write_text(door, path, json);
  });
  planner::Problem problem;
  expect_old_or_new(
      [&](Door& door, const std::string& path) {
        problem.buffers.push_back({.lower = 0, .upper = 3, .size = 8});
        const memory::String csv = planner::to_csv(problem);
        const memory::Vector<std::int64_t> offsets(problem.buffers.size());
        return app::write_text(door, path, planner::add_offsets(csv, offsets));
      },
      true);
}

// Logs are appended to while a run goes on: what was there stays, what comes is
// a first part of it, and all of it once the log is closed. The name of a new
// file may be lost.
TEST_F(PowerCutsTest, LeaveWhatLogsHad) {
  const auto log = [&](Door& door) {
    auto opened =
        train::MetricsLog::open(door, {.jsonl = path(),
                                       .tensorboard = folder_.at("runs"),
                                       .flush_seconds = 0.0});
    ASSERT_TRUE(opened.has_value());
    for (int step = 1; step <= 20; ++step) {
      ASSERT_TRUE(opened->scalar(step, "loss", 1.0 / step).has_value());
    }
    ASSERT_TRUE(opened->close().has_value());
  };
  log(files::system_door());
  const Disk before = {{path(), folder_.get("file")}};
  RecordingDoor door(files::system_door());
  log(door);
  const std::size_t all = door.operations().size();
  const Disk after = disk_after(before, door.operations(), all, AfterCut::kAll);
  ASSERT_EQ(after.size(), 2U);
  ASSERT_EQ(after.at(path()), folder_.get("file"));
  for (const AfterCut kept : kEveryAfterCut) {
    for (std::size_t count = 0; count <= all; ++count) {
      Disk disk = disk_after(before, door.operations(), count, kept);
      EXPECT_TRUE(disk[path()].starts_with(before.at(path())));
      for (const auto& [name, found] : disk) {
        EXPECT_TRUE(kept == AfterCut::kNamesWithZeroes ||
                    after.at(name).starts_with(found));
        EXPECT_TRUE(count < all || found == after.at(name));
      }
    }
  }
}

// The rules see what they are there for.
TEST_F(PowerCutsTest, WhatIsNotSyncedIsNoticed) {
  const Disk before = {{"d/x", "old"}};
  const std::vector<FileOperation> all = {{FileStep::kCreate, "d/t"},
                                          {FileStep::kWrite, "d/t", "newer"},
                                          {FileStep::kSync, "d/t"},
                                          {FileStep::kRename, "d/t", "d/x"},
                                          {FileStep::kSyncFolder, "d"}};
  const auto without = [&](std::size_t left_out) {
    std::vector<FileOperation> some = all;
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(left_out));
    return some;
  };
  for (const AfterCut kept : kEveryAfterCut) {
    EXPECT_EQ(disk_after(before, all, 5, kept), (Disk{{"d/x", "newer"}}));
  }
  const auto found = [&](std::size_t left_out, AfterCut kept) {
    return disk_after(before, without(left_out), 4, kept).at("d/x");
  };
  EXPECT_EQ(found(2, AfterCut::kNamesAlone), "");
  EXPECT_EQ(found(2, AfterCut::kNamesWithZeroes), std::string(5, '\0'));
  EXPECT_EQ(found(4, AfterCut::kDataAlone), "old");
  EXPECT_EQ(found(4, AfterCut::kNothing), "old");
  EXPECT_EQ(disk_after(before, all, 2, AfterCut::kTornWrite).at("d/t"), "ne");
  const std::vector<FileOperation> straight = {
      {FileStep::kCreate, "d/x"}, {FileStep::kWrite, "d/x", "newer"}};
  EXPECT_EQ(disk_after(before, straight, 1, AfterCut::kAll).at("d/x"), "");
}

}  // namespace
}  // namespace neap::tests
