// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Spilling where disk, folder, memory or budget refuse, and where a disk lies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "neap/base/external.hpp"
#include "neap/compile/spill_queue.hpp"
#include "neap/compile/spill_values_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::compiler {
namespace {

using files::FaultDoor;
using testing::AllOf;
using testing::HasSubstr;

class SpillQueueFaultsTest : public SpillQueueTest {};

INSTANTIATE_TEST_SUITE_P(, SpillQueueFaultsTest, testing::Bool(),
                         [](const auto& test) {
                           return test.param ? "Direct" : "Buffered";
                         });

TEST_P(SpillQueueFaultsTest, ReportsAFailureOfEveryOperationAndGoesOn) {
  Values values(3, 2);
  const auto run = [&](FaultDoor& door) {
    SpillQueue queue(door, path(), domain_, options());
    queue.reserve(values.file_bytes(), values.count());
    const std::int64_t ready = door.operations();
    move_all(queue, values, 1);
    return ready;
  };
  FaultDoor quiet(files::system_door());
  const std::int64_t ready = run(quiet);
  EXPECT_GE(quiet.operations() - ready, 6);
  for (std::int64_t n = 1; n <= ready; ++n) {
    FaultDoor door(files::system_door(), {.fail_at = n});
    EXPECT_THAT(message_of([&] { run(door); }), HasSubstr("on purpose"));
  }
  for (std::int64_t n = ready + 1; n <= quiet.operations(); ++n) {
    FaultDoor once(files::system_door(), {.fail_at = n, .failures = 2});
    EXPECT_NO_THROW(run(once)) << n;
    EXPECT_TRUE(are_back(values, 1)) << n;
    FaultDoor door(files::system_door(), {.fail_at = n, .failures = 3});
    SpillQueue queue(door, path(), domain_, options());
    queue.reserve(values.file_bytes(), values.count());
    EXPECT_THAT(message_of([&] { move_all(queue, values, 1); }),
                AllOf(HasSubstr("in 3 tries"), HasSubstr("on purpose"),
                      HasSubstr("spill: value")))
        << n;
    queue.drain();
    EXPECT_NO_THROW(move_all(queue, values, 2)) << n;
    EXPECT_TRUE(are_back(values, 2)) << n;
  }
}

TEST_P(SpillQueueFaultsTest, RepeatsTheErrorUntilTheSlotsNextOperation) {
  Values values(2, 1);
  FaultDoor counting(files::system_door());
  {
    SpillQueue queue(counting, path(), domain_, options());
    queue.reserve(values.file_bytes(), values.count());
  }
  // Buffered files have more operations a write: all of three tries fail.
  FaultDoor door(files::system_door(),
                 {.fail_at = counting.operations() + 1, .failures = 3});
  SpillQueue queue(door, path(), domain_, options());
  queue.reserve(values.file_bytes(), values.count());
  values.make(0, 1);
  write(queue, values, 0);
  EXPECT_THROW(await(queue, 0), IoError);
  EXPECT_THAT(message_of([&] { await(queue, 0); }),
              HasSubstr("value 0 was not written in 3 tries: cannot write"));
  fetch(queue, values, 0);
  EXPECT_THAT(message_of([&] { await(queue, 0); }),
              HasSubstr("value 0 was not written"));
  EXPECT_EQ(queue.counts().retries, 2);
  write(queue, values, 0);
  EXPECT_NO_THROW(await(queue, 0));
  values.wipe(0);
  fetch(queue, values, 0);
  await(queue, 0);
  EXPECT_TRUE(values.is(0, 1));
}

TEST_P(SpillQueueFaultsTest, EndsWhereEverythingFails) {
  Values values(3, 2);
  FaultDoor quiet(files::system_door());
  {
    SpillQueue queue(quiet, path(), domain_, options());
    queue.reserve(values.file_bytes(), values.count());
    move_all(queue, values, 1);
  }
  for (std::int64_t n = 1; n <= quiet.operations(); ++n) {
    FaultDoor door(files::system_door(), {.stop_at = n});
    EXPECT_THAT(message_of([&] {
                  SpillQueue queue(door, path(), domain_, options());
                  queue.reserve(values.file_bytes(), values.count());
                  move_all(queue, values, 1);
                }),
                HasSubstr("stopped on purpose"))
        << n;
  }
  EXPECT_TRUE(files::system_door().list(path())->empty());
}

TEST_P(SpillQueueFaultsTest, ReadsAgainWhereABitIsWrong) {
  for (const std::int64_t lies : {1, 2}) {
    FaultDoor door(files::system_door(), {.lie_at = 2, .lies = lies});
    SpillQueue queue(door, path(), domain_, options());
    Values values(3, 2);
    queue.reserve(values.file_bytes(), values.count());
    move_all(queue, values, 1);
    EXPECT_TRUE(are_back(values, 1));
    EXPECT_EQ(queue.counts().retries, lies);
  }
}

TEST_P(SpillQueueFaultsTest, NeverGivesWrongData) {
  FaultDoor door(files::system_door(), {.lie_at = 2, .lies = 3});
  SpillQueue queue(door, path(), domain_, options());
  Values values(3, 2);
  queue.reserve(values.file_bytes(), values.count());
  EXPECT_THAT(message_of([&] { move_all(queue, values, 1); }),
              AllOf(HasSubstr("value 1 was read back damaged"),
                    HasSubstr("choose another folder")));
  // The file itself is whole.
  fetch(queue, values, 1);
  EXPECT_NO_THROW(await(queue, 1));
  EXPECT_TRUE(are_back(values, 1));
}

TEST_P(SpillQueueFaultsTest, MovesTheRestOfShortTransfers) {
  FaultDoor door(files::system_door(),
                 {.longest_read = kPage, .longest_write = 2 * kPage});
  SpillQueue queue(door, path(), domain_, options());
  Values values(3, 5);
  queue.reserve(values.file_bytes(), values.count());
  move_all(queue, values, 1);
  EXPECT_TRUE(are_back(values, 1));
  EXPECT_EQ(queue.counts().retries, 0);
}

TEST_P(SpillQueueFaultsTest, ReportsAFullDiskInReserveAndStaysAsItWas) {
  Values values(4, 2);
  FaultDoor door(files::system_door(), {.space = values.offset(3)});
  SpillQueue queue(door, path(), domain_, options());
  queue.reserve(values.offset(2), 2);
  const Bytes live = domain_.stats().live;
  EXPECT_THAT(
      message_of([&] { queue.reserve(values.file_bytes(), values.count()); }),
      HasSubstr("no space left"));
  EXPECT_EQ(queue.file_bytes(), values.offset(2));
  EXPECT_EQ(domain_.stats().live, live);
  values.make(1, 1);
  write(queue, values, 1);
  EXPECT_NO_THROW(await(queue, 1));
  EXPECT_NO_THROW(queue.reserve(values.offset(3), 3));
}

TEST_P(SpillQueueFaultsTest, ReportsAFolderThatItCannotUse) {
  EXPECT_THAT(message_of([&] {
                SpillQueue(files::system_door(), "/dev/shm", domain_,
                           options());
              }),
              HasSubstr("in memory (tmpfs)"));
  EXPECT_THAT(message_of([&] {
                SpillQueue(files::system_door(), "/nowhere", domain_,
                           options());
              }),
              HasSubstr("No such file or directory"));
}

TEST_P(SpillQueueFaultsTest, ReportsThatThereIsNoMemoryAndStaysAsItWas) {
  const auto domain = Domain::create();
  SpillQueue queue(files::system_door(), path(), *domain, options());
  Values values(4, 1);
  queue.reserve(values.offset(2), 2);
  const Bytes live = domain->stats().live;
  int failures = 0;
  for (std::int64_t n = 1;; ++n) {
    domain->fail_at(n);
    try {
      queue.reserve(values.file_bytes(), values.count());
      break;
    } catch (const OutOfMemory&) {
      ++failures;
      EXPECT_EQ(domain->stats().live, live);
    }
  }
  domain->fail_at(0);
  EXPECT_EQ(failures, 2);
  move_all(queue, values, 1);
  EXPECT_TRUE(are_back(values, 1));
}

TEST_P(SpillQueueFaultsTest, HasItsThreadsStackWithinTheBudget) {
  const Bytes external = base::external_bytes();
  const Bytes stack = threads::Background::external_bytes();
  const auto tight = Domain::create({.budget = external + stack / 2});
  EXPECT_THROW(SpillQueue(files::system_door(), path(), *tight, options()),
               OutOfMemory);
  EXPECT_EQ(base::external_bytes(), external);
  {
    const SpillQueue queue(files::system_door(), path(), domain_, options());
    EXPECT_EQ(base::external_bytes(), external + stack);
  }
  EXPECT_EQ(base::external_bytes(), external);
}

TEST(SpillQueueDirectTest, ReportsMemoryThatIsNotAligned) {
  const files::TemporaryFolder folder;
  SpillQueue queue(files::system_door(), folder.path(),
                   memory::default_domain());
  if (!queue.is_direct()) {
    GTEST_SKIP() << "no direct transfers in " << folder.path();
  }
  queue.reserve(4 * kPage, 1);
  Values values(1, 2);
  queue.write(0, 0, values.value(0).subspan(64, kPage));
  EXPECT_THAT(message_of([&] { queue.await(0); }),
              HasSubstr("multiples of 4096"));
}

}  // namespace
}  // namespace neap::compiler
