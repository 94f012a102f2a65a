// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/spill_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "neap/compile/spill_values_for_test.hpp"
#include "neap/files/door_for_test.hpp"
#include "neap/files/temporary_folder.hpp"
#include "support/counting_malloc.hpp"

namespace neap::compiler {
namespace {

using std::chrono_literals::operator""ms;
using testing::AllOf;
using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(, SpillQueueTest, testing::Bool(),
                         [](const auto& test) {
                           return test.param ? "Direct" : "Buffered";
                         });

TEST_P(SpillQueueTest, BringsEveryValueBackWhateverTheOrder) {
  SpillQueue queue(files::system_door(), path(), domain_, options());
  Values values(40, 3);
  queue.reserve(values.file_bytes(), values.count());
  std::vector<std::size_t> order(values.count());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(5);
  for (unsigned turn = 0; turn < 5; ++turn) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      values.make(i, turn);
      write(queue, values, i);
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      await(queue, i);
      values.wipe(i);
      if (random() % 2 == 0) {
        fetch(queue, values, i);
      } else {
        values.make(i, turn);
      }
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      await(queue, i);
    }
    EXPECT_TRUE(are_back(values, turn)) << turn;
  }
}

TEST_P(SpillQueueTest, FetchesTheSameValueAgainAndAgain) {
  SpillQueue queue(files::system_door(), path(), domain_, options());
  Values values(2, 4);
  queue.reserve(values.file_bytes(), values.count());
  move_all(queue, values, 3);
  for (int i = 0; i < 3; ++i) {
    values.wipe(1);
    fetch(queue, values, 1);
    await(queue, 1);
    EXPECT_TRUE(values.is(1, 3));
  }
  EXPECT_EQ(queue.counts().written, 8 * kPage);
  EXPECT_EQ(queue.counts().fetched, 20 * kPage);
  EXPECT_EQ(queue.counts().retries, 0);
}

TEST_P(SpillQueueTest, KeepsWhatIsThereWhenMoreIsReserved) {
  SpillQueue queue(files::system_door(), path(), domain_, options());
  Values values(8, 2);
  queue.reserve(values.offset(4), 4);
  for (std::size_t i = 0; i < 4; ++i) {
    values.make(i, 1);
    write(queue, values, i);
  }
  queue.reserve(values.file_bytes(), values.count());
  queue.reserve(0, 0);
  EXPECT_EQ(queue.file_bytes(), values.file_bytes());
  for (std::size_t i = 0; i < 4; ++i) {
    values.wipe(i);
    fetch(queue, values, i);
    await(queue, i);
    EXPECT_TRUE(values.is(i, 1));
  }
  move_all(queue, values, 2);
  EXPECT_TRUE(are_back(values, 2));
}

TEST_P(SpillQueueTest, HasNothingToAwaitBeforeTheFirstOperation) {
  SpillQueue queue(files::system_door(), path(), domain_, options());
  queue.reserve(0, 1);
  EXPECT_NO_THROW(queue.await(0));
  EXPECT_EQ(queue.counts().waits, 0);
}

TEST_P(SpillQueueTest, RefusesASlotThatWasNotReserved) {
  SpillQueue queue(files::system_door(), path(), domain_, options());
  Values values(1, 1);
  write(queue, values, 0);
  EXPECT_THROW(queue.await(0), ValueError);
  queue.reserve(values.file_bytes(), 1);
  fetch(queue, values, 0);
  EXPECT_THROW(queue.await(0), IoError);
  EXPECT_THROW(queue.await(1), ValueError);
}

TEST_P(SpillQueueTest, RefusesToBringBackWhatIsNotThere) {
  SpillQueue queue(files::system_door(), path(), domain_, options());
  Values values(3, 2);
  queue.reserve(values.file_bytes(), values.count());
  fetch(queue, values, 2);
  EXPECT_THAT(message_of([&] { await(queue, 2); }),
              AllOf(HasSubstr("value 2"), HasSubstr("not on the spill file")));
  values.make(0, 1);
  write(queue, values, 0);
  await(queue, 0);
  queue.fetch(0, values.offset(1), values.value(0));
  EXPECT_THROW(await(queue, 0), IoError);
  queue.fetch(0, values.offset(0), values.value(0).first(kPage));
  EXPECT_THROW(await(queue, 0), IoError);
  fetch(queue, values, 0);
  EXPECT_NO_THROW(await(queue, 0));
}

// Waits before each transfer.
struct SlowDoor : files::ForwardingDoor {
  explicit SlowDoor(std::chrono::milliseconds time)
      : ForwardingDoor(files::system_door()), pause(time) {}
  Result<Bytes> read_at(files::File& file, Bytes offset,
                        std::span<std::byte> into) override {
    std::this_thread::sleep_for(pause.load());
    return ForwardingDoor::read_at(file, offset, into);
  }
  Result<Bytes> write_at(files::File& file, Bytes offset,
                         std::span<const std::byte> from) override {
    std::this_thread::sleep_for(pause.load());
    ++writes;
    return ForwardingDoor::write_at(file, offset, from);
  }
  std::atomic<std::chrono::milliseconds> pause;
  std::atomic<int> writes{0};
};

TEST_P(SpillQueueTest, DropsWhatHasNotBegunAndGoesOn) {
  SlowDoor door(20ms);
  SpillQueue queue(door, path(), domain_, options());
  Values values(60, 1);
  queue.reserve(values.file_bytes(), values.count());
  for (std::size_t i = 0; i < values.count(); ++i) {
    values.make(i, 1);
    write(queue, values, i);
  }
  await(queue, 1);
  queue.drain();
  EXPECT_LT(door.writes.load(), 20);
  EXPECT_GE(door.writes.load(), 2);
  // Nobody reads or writes any of it.
  for (std::size_t i = 0; i < values.count(); ++i) {
    values.wipe(i);
  }
  EXPECT_NO_THROW(await(queue, 0));
  EXPECT_THAT(message_of([&] { await(queue, 59); }),
              HasSubstr("value 59 was not moved"));
  fetch(queue, values, 59);
  EXPECT_THROW(await(queue, 59), IoError);
  values.make(59, 2);
  write(queue, values, 59);
  EXPECT_NO_THROW(await(queue, 59));
}

TEST_P(SpillQueueTest, TakesADroppedValueOfTheStepBeforeForNoValue) {
  SlowDoor door(0ms);
  SpillQueue queue(door, path(), domain_, options());
  Values values(30, 1);
  queue.reserve(values.file_bytes(), values.count());
  move_all(queue, values, 1);
  door.pause = 20ms;
  for (std::size_t i = 0; i < values.count(); ++i) {
    values.make(i, 2);
    write(queue, values, i);
  }
  queue.drain();
  fetch(queue, values, 29);
  EXPECT_THROW(await(queue, 29), IoError);
}

TEST_P(SpillQueueTest, EndsInTheMiddleOfItsWork) {
  SlowDoor door(20ms);
  Values values(50, 1);
  {
    SpillQueue queue(door, path(), domain_, options());
    queue.reserve(values.file_bytes(), values.count());
    for (std::size_t i = 0; i < values.count(); ++i) {
      values.make(i, 1);
      write(queue, values, i);
      fetch(queue, values, i);
    }
  }
  EXPECT_LT(door.writes.load(), 20);
  values.wipe(0);
}

TEST_P(SpillQueueTest, WaitsForAPlaceWhereItHasNone) {
  SlowDoor door(5ms);
  SpillQueue queue(door, path(), domain_, options());
  Values values(2, 1);
  queue.reserve(values.file_bytes(), values.count());
  move_all(queue, values, 1);
  values.wipe(1);
  fetch(queue, values, 0);
  fetch(queue, values, 1);
  for (int i = 0; i < 20; ++i) {
    fetch(queue, values, 0);
  }
  await(queue, 1);
  EXPECT_TRUE(values.is(1, 1));
  await(queue, 0);
  EXPECT_EQ(queue.counts().fetched, 24 * kPage);
}

TEST_P(SpillQueueTest, CountsWaitsAndTheirTime) {
  SlowDoor door(100ms);
  SpillQueue queue(door, path(), domain_, options());
  Values values(1, 1);
  queue.reserve(values.file_bytes(), values.count());
  values.make(0, 1);
  write(queue, values, 0);
  await(queue, 0);
  EXPECT_EQ(queue.counts().waits, 1);
  EXPECT_GT(queue.counts().waited, 1'000'000);
  await(queue, 0);
  EXPECT_EQ(queue.counts().waits, 1);
}

std::int64_t page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

TEST_P(SpillQueueTest, MakesNoHeapCallAndNoPageFaultOnceWarm) {
  if (!support::is_counting()) {
    GTEST_SKIP() << "a sanitizer counts here";
  }
  SpillQueue queue(files::system_door(), path(), domain_, options());
  Values values(10, 16);
  queue.reserve(values.file_bytes(), values.count());
  const auto step = [&] {
    for (std::size_t i = 0; i < values.count(); ++i) {
      write(queue, values, i);
    }
    for (std::size_t i = 0; i < values.count(); ++i) {
      await(queue, i);
      fetch(queue, values, i);
    }
    for (std::size_t i = 0; i < values.count(); ++i) {
      await(queue, i);
    }
  };
  step();
  step();
  support::reset_outside_calls();
  const auto allocations = domain_.stats().allocations;
  const std::int64_t faults = page_faults();
  for (int i = 0; i < 10; ++i) {
    step();
  }
  EXPECT_EQ(page_faults() - faults, 0);
  EXPECT_EQ(support::outside_stats().heap_calls, 0);
  EXPECT_EQ(support::outside_stats().map_calls, 0);
  EXPECT_EQ(domain_.stats().allocations, allocations);
}

TEST_P(SpillQueueTest, ThrowsInAForkedChildAndGoesOnInTheParent) {
  auto* queue =
      new SpillQueue(files::system_door(), path(), domain_, options());
  Values values(3, 2);
  queue->reserve(values.file_bytes(), values.count());
  values.make(0, 1);
  write(*queue, values, 0);
  await(*queue, 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that waits for the thread is a failure
    int problems = 0;
    values.wipe(0);
    write(*queue, values, 0);
    const auto says_so = [](const std::function<void()>& action) {
      return message_of(action).find("after the fork") != std::string::npos;
    };
    problems += says_so([&] { await(*queue, 0); }) ? 0 : 1;
    problems += says_so([&] { queue->reserve(0, 9); }) ? 0 : 2;
    for (int i = 0; i < 100; ++i) {
      fetch(*queue, values, 1);
    }
    queue->drain();
    delete queue;
    ::_exit(problems);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  values.wipe(0);
  fetch(*queue, values, 0);
  await(*queue, 0);
  EXPECT_TRUE(values.is(0, 1));
  delete queue;
}

TEST(SpillQueueBufferedTest, TakesAnyOffsetSizeAndMemory) {
  const files::TemporaryFolder folder;
  SpillQueue queue(files::system_door(), folder.path(),
                   memory::default_domain(), {.may_be_direct = false});
  EXPECT_FALSE(queue.is_direct());
  queue.reserve(10'000, 2);
  Values values(2, 1);
  values.make(0, 1);
  const auto odd = values.value(0).subspan(3, 3001);
  queue.write(1, 777, odd);
  queue.await(1);
  const auto back = values.value(1).subspan(5, 3001);
  queue.fetch(1, 777, back);
  queue.await(1);
  EXPECT_EQ(std::memcmp(back.data(), odd.data(), odd.size()), 0);
}

}  // namespace
}  // namespace neap::compiler
