// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A loader with a reader thread: nothing but time may tell it from one without.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "neap/base/external.hpp"
#include "neap/data/loader.hpp"
#include "neap/data/read_error.hpp"

namespace neap::data {
namespace {

// Sample i of epoch e is the number 1000 e + i.
struct Counting {
  std::int64_t count = 10;
  std::int64_t size() const { return count; }
  SampleSpec spec() const { return {{}, i64, {}, i64}; }
  void load(SampleId id, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const std::int64_t value = 1000 * id.epoch + id.index;
    std::memcpy(input.data(), &value, sizeof(value));
    std::memcpy(target.data(), &id.index, sizeof(id.index));
  }
};

using Values = std::vector<double>;

// Everything that a loader gives from here to its epoch's end.
Values rest_of(Loader& loader) {
  Values all;
  while (const Batch* batch = loader.next()) {
    for (const double value : batch->input.to_vector()) {
      all.push_back(value);
    }
  }
  return all;
}

class PrefetchTest : public testing::TestWithParam<int> {
 protected:
  LoaderOptions ahead(LoaderOptions options) const {
    options.prefetch = GetParam();
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(, PrefetchTest, testing::Values(1, 2, 6));

TEST_P(PrefetchTest, ReturnsTheSameBatchesInTheSameOrder) {
  const Counting data{103};
  const LoaderOptions options{.batch = 4, .shuffle = true, .seed = 3};
  Loader plain(data, options);
  Loader loader(data, ahead(options));
  for (const std::int64_t epoch : {0, 1, 7}) {
    for (const std::int64_t first : {0, 3, 25, 26}) {
      plain.start(epoch, first);
      loader.start(epoch, first);
      EXPECT_EQ(loader.epoch(), epoch);
      EXPECT_EQ(loader.next_batch(), first);
      EXPECT_EQ(rest_of(loader), rest_of(plain)) << epoch << " " << first;
      EXPECT_EQ(loader.next_batch(), 26);
    }
  }
}

TEST_P(PrefetchTest, StartsAnewInTheMiddleOfAnEpoch) {
  const Counting data{40};
  Loader plain(data, {.batch = 3});
  Loader loader(data, ahead({.batch = 3}));
  for (int taken = 0; taken < 13; ++taken) {
    loader.start(taken);
    for (int i = 0; i < taken; ++i) {
      loader.next();
    }
    plain.start(100 + taken, 2);
    loader.start(100 + taken, 2);
    EXPECT_EQ(rest_of(loader), rest_of(plain)) << taken;
  }
}

// A set so slow that its reader is in the middle of a batch when another epoch
// starts.
struct Slow : Counting {
  void load(SampleId id, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    Counting::load(id, input, target);
  }
};

TEST_P(PrefetchTest, WaitsForABatchThatIsBeingReadWhenAnEpochStarts) {
  const Slow data;
  Loader loader(data, ahead({.batch = 4}));
  for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
    loader.start(epoch);
    loader.next();
    std::this_thread::sleep_for(std::chrono::microseconds(400));
    loader.start(epoch + 100, 1);
    const double first = 1000.0 * static_cast<double>(epoch + 100);
    EXPECT_EQ(rest_of(loader), (Values{first + 4, first + 5, first + 6,
                                       first + 7, first + 8, first + 9}));
  }
}

TEST_P(PrefetchTest, KeepsABatchUntilTwoFurtherOnesWereAskedFor) {
  const Counting data{60};
  Loader loader(data, ahead({.batch = 2}));
  loader.start(0);
  std::vector<Tensor> given;
  std::vector<std::uint32_t> versions;
  while (const Batch* batch = loader.next()) {
    given.push_back(batch->input);
    versions.push_back(given.back().array()->storage()->version());
    std::this_thread::yield();
    const std::size_t at = given.size() - 1;
    for (std::size_t back = 0; back < std::min<std::size_t>(at + 1, 2);
         ++back) {
      EXPECT_EQ(given[at - back].at({1}),
                2.0 * static_cast<double>(at - back) + 1);
      EXPECT_EQ(given[at - back].array()->storage()->version(),
                versions[at - back]);
    }
    if (at >= 2) {
      EXPECT_GT(given[at - 2].array()->storage()->version(), versions[at - 2]);
    }
  }
}

TEST_P(PrefetchTest, TakesItsMemoryAtOnce) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Counting data{64};
  const Bytes external = base::external_bytes();
  {
    Loader loader(data, ahead({.batch = 4, .shuffle = true}));
    EXPECT_GT(base::external_bytes(), external);
    const auto before = domain->stats();
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      loader.start(epoch);
      while (loader.next() != nullptr) {
      }
    }
    EXPECT_EQ(domain->stats().allocations, before.allocations);
  }
  EXPECT_EQ(base::external_bytes(), external);
  EXPECT_EQ(domain->stats().live, 0);
}

TEST_P(PrefetchTest, EndsWhateverItsReaderIsDoing) {
  const Counting data{1000};
  for (int taken = 0; taken < 20; ++taken) {
    Loader loader(data, ahead({.batch = 7}));
    if (taken > 0) {
      loader.start(0);
    }
    for (int i = 1; i < taken; ++i) {
      loader.next();
    }
  }
}

// Fails on one sample until it is mended.
struct Failing : Counting {
  std::int64_t at = 0;
  bool throws = false;
  std::atomic<bool>* is_mended = nullptr;
  Result<void> load(SampleId id, std::span<std::byte> input,
                    std::span<std::byte> target) const {
    if (id.index == at && !*is_mended) {
      if (throws) {
        throw std::runtime_error("thrown");
      }
      return failure(FailureKind::kTruncated, "sample: ends early");
    }
    Counting::load(id, input, target);
    return {};
  }
};

class FailureTest : public PrefetchTest {};
INSTANTIATE_TEST_SUITE_P(, FailureTest, testing::Values(0, 1, 3));

TEST_P(FailureTest, ComesOutOfNextWhichMayBeTriedAgain) {
  std::atomic<bool> is_mended{false};
  Failing data;
  data.at = 5;
  data.is_mended = &is_mended;
  Loader loader(data, ahead({.batch = 2}));
  loader.start(0);
  EXPECT_EQ(loader.next()->input.at({1}), 1.0);
  EXPECT_EQ(loader.next()->input.at({1}), 3.0);
  for (int i = 0; i < 3; ++i) {
    try {
      loader.next();
      FAIL() << "no error";
    } catch (const ReadError& error) {
      EXPECT_EQ(error.kind(), FailureKind::kTruncated);
      EXPECT_STREQ(error.what(), "sample: ends early");
    }
    EXPECT_EQ(loader.next_batch(), 2);
  }
  is_mended = true;
  EXPECT_EQ(rest_of(loader), (Values{4, 5, 6, 7, 8, 9}));
}

TEST_P(FailureTest, CarriesWhatADataSetThrows) {
  std::atomic<bool> is_mended{false};
  Failing data;
  data.throws = true;
  data.is_mended = &is_mended;
  Loader loader(data, ahead({.batch = 2}));
  loader.start(0);
  EXPECT_THROW(loader.next(), std::runtime_error);
  loader.start(0, 2);
  EXPECT_EQ(rest_of(loader), (Values{4, 5, 6, 7, 8, 9}));
}

TEST(PrefetchOptionsTest, RefusesMoreThanTheRingHolds) {
  const Counting data;
  EXPECT_THROW(Loader(data, {.prefetch = -1}), ValueError);
  EXPECT_THROW(Loader(data, {.prefetch = 7}), ValueError);
}

TEST(PrefetchForkTest, RefusesInAChildInsteadOfWaiting) {
  const Counting data{100};
  auto loader =
      std::make_unique<Loader>(data, LoaderOptions{.batch = 2, .prefetch = 2});
  loader->start(0);
  loader->next();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that waits for the reader is a failure
    int status = 1;
    try {
      loader->start(1);
      loader->next();
    } catch (const ValueError&) {
      status = 0;
    }
    loader.reset();
    ::_exit(status);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(loader->next()->input.at({0}), 2.0);
}

}  // namespace
}  // namespace neap::data
