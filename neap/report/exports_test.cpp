// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Each export gives whole files or none, the same bytes for the same
// snapshot, no snapshot too small or too strange.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/files/fault_door.hpp"
#include "neap/report/folded.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/pickle.hpp"
#include "neap/report/picture.hpp"
#include "neap/report/snapshot_for_test.hpp"
#include "neap/report/trace.hpp"
#include "neap/report/written_for_test.hpp"

namespace neap::report {
namespace {

constexpr std::array<Write, 4> kWrites = {write_pickle, write_trace,
                                          write_folded, write_svg};

TEST(ExportsTest, TheOldFileIsWholeWhateverFails) {
  const Snapshot s = random_snapshot({.calls = 400});
  for (const Write write : kWrites) {
    const files::TemporaryFolder folder;
    const std::string path = folder.put("out", "old");
    const std::string whole = written(write, s);
    for (std::int64_t at = 1;; ++at) {
      files::FaultDoor door(files::system_door(),
                            {.fail_at = at, .longest_write = 5000});
      const Result<void> done = write(door, path, s);
      if (done) {
        EXPECT_GT(at, 6) << "so few operations cannot write a file";
        break;
      }
      EXPECT_THAT(done.error().message, testing::HasSubstr(folder.path()));
      EXPECT_THAT(folder.get("out"), testing::AnyOf("old", whole));
      ASSERT_LT(at, 10'000);
    }
    EXPECT_EQ(folder.get("out"), whole);
  }
}

TEST(ExportsTest, AFullDiskIsAFailureThatNamesTheFile) {
  const Snapshot s = random_snapshot({.calls = 400});
  for (const Write write : kWrites) {
    const files::TemporaryFolder folder;
    const std::string path = folder.put("out", "old");
    files::FaultDoor door(files::system_door(), {.space = 1000});
    const Result<void> done = write(door, path, s);
    ASSERT_FALSE(done.has_value());
    EXPECT_THAT(done.error().message, testing::HasSubstr("/out"));
    EXPECT_EQ(folder.get("out"), "old");
  }
}

TEST(ExportsTest, TheSameSnapshotGivesTheSameBytes) {
  for (const Write write : kWrites) {
    const std::string once = written(write, random_snapshot({.seed = 5}));
    EXPECT_EQ(once, written(write, random_snapshot({.seed = 5})));
    EXPECT_NE(once, written(write, random_snapshot({.seed = 6})));
  }
}

TEST(ExportsTest, AnEmptySnapshotHasItsFiles) {
  for (const Write write : kWrites) {
    EXPECT_EQ(written(write, empty_snapshot()).empty(), write == write_folded);
  }
}

TEST(ExportsTest, MemoryIsOfTheReportsDomainAndIsGivenBack) {
  const Snapshot s = random_snapshot({.calls = 300});
  const Bytes before = memory::domain().stats().live;
  const auto made = memory::domain().stats().allocations;
  const Bytes reports = report_domain().stats().live;
  for (const Write write : kWrites) {
    const files::TemporaryFolder folder;
    EXPECT_TRUE(write(files::system_door(), folder.at("f"), s).has_value());
  }
  EXPECT_EQ(memory::domain().stats().live, before);
  EXPECT_EQ(memory::domain().stats().allocations, made);
  EXPECT_EQ(report_domain().stats().live, reports);
}

}  // namespace
}  // namespace neap::report
