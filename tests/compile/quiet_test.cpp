// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// From its third run on a compiled step asks nobody for anything, seen from
// outside: no heap call, no map, no page fault, no request to the domain.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/linalg/linear_cross_entropy.hpp"
#include "neap/tensor/create.hpp"
#include "support/counting_malloc.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

// Page faults of all threads.
std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

// Requests that `run` made while it was called ten times.
struct Asked {
  std::int64_t heap_calls = 0;
  std::int64_t frees = 0;
  std::int64_t maps = 0;
  std::int64_t faults = 0;
  std::int64_t requests = 0;  // to the domain
  friend bool operator==(const Asked&, const Asked&) = default;
};

std::ostream& operator<<(std::ostream& out, const Asked& asked) {
  return out << asked.heap_calls << " heap calls, " << asked.frees << " frees, "
             << asked.maps << " maps, " << asked.faults << " page faults, "
             << asked.requests << " requests";
}

template <class Run>
Asked asked_by(const memory::Domain& domain, Run&& run) {
  // The second run may trace once more, for gradients that are added to. The
  // third is the first that uses the stack as all later ones do.
  for (int i = 0; i < 3; ++i) {
    run();
  }
  const std::int64_t requests = domain.requests();
  const std::int64_t faults = page_faults();
  support::reset_outside_calls();
  for (int i = 0; i < 10; ++i) {
    run();
  }
  const support::OutsideStats outside = support::outside_stats();
  return {outside.heap_calls, outside.free_calls, outside.map_calls,
          page_faults() - faults, domain.requests() - requests};
}

class CompiledQuietTest : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!support::is_counting()) {
      GTEST_SKIP() << "a sanitizer counts here";
    }
  }
  static TrainingOptions options(int threads, std::int64_t batch = 64) {
    return {.kind = GetParam(),
            .batch = batch,
            .threads = threads,
            .host = memory::HostAllocator::kPooled};
  }
};

// Gradients that are left, and added to.
TEST_P(CompiledQuietTest, WhereGradientsAddUp) {
  Training training(options(1));
  const auto batch = training.batch(0);
  auto step = neap::compile([&](const Tensor& x, const Tensor& y) {
    return training.subject().differentiate(x, y);
  });
  double sum = 0;
  const Asked asked = asked_by(training.domain(), [&] {
    sum += step(batch.first, batch.second).item();
  });
  EXPECT_EQ(asked, Asked());
  EXPECT_GT(sum, 0);
}

TEST_P(CompiledQuietTest, OnTheMainThreadForAnyBatch) {
  for (const std::int64_t size : {1, 7, 64}) {
    for (const int threads : {1, 2}) {
      Training training(options(threads, size));
      auto step = training.compile();
      const auto batch = training.batch(0);
      double sum = 0;
      const Asked asked = asked_by(training.domain(), [&] {
        sum += step(batch.first, batch.second).item();
      });
      EXPECT_EQ(asked, Asked()) << size << " samples, " << threads;
      EXPECT_GT(sum, 0);
    }
  }
}

TEST_P(CompiledQuietTest, OnPagesThatDoNotLieTogether) {
  TrainingOptions large = options(2);
  large.batch = large_batch(GetParam());
  Training training(large);
  auto step = training.compile(on_scattered_pages());
  const auto batch = training.batch(0);
  const auto run = [&] { step(batch.first, batch.second).item(); };
  EXPECT_EQ(asked_by(training.domain(), run), Asked());
  EXPECT_FALSE(step.plan().pages.views.empty());
}

// The thread that moves values asks for nothing either.
TEST_P(CompiledQuietTest, WithValuesInAFile) {
  Bytes whole = 0;
  {
    Training training(options(2));
    auto step = training.compile();
    step.prepare(training.specs());
    whole = step.arena_bytes();
  }
  Training training(options(2));
  auto step = training.compile({.arena_limit = whole * 3 / 5,
                                .spill = {.folder = ".",
                                          .write_rate = 1'000'000'000,
                                          .fetch_rate = 1'000'000'000,
                                          .least = 4 * kKiB}});
  try {
    step.prepare(training.specs());
  } catch (const PlanError&) {
    GTEST_SKIP() << "the largest call needs most of the arena";
  }
  const auto batch = training.batch(0);
  const auto run = [&] { step(batch.first, batch.second).item(); };
  EXPECT_EQ(asked_by(training.domain(), run), Asked());
  EXPECT_TRUE(step.program().fitting.is_changed());
}

TEST_P(CompiledQuietTest, OnAnotherThread) {
  Training training(options(2));
  auto step = training.compile();
  const auto batch = training.batch(0);
  step(batch.first, batch.second);
  const memory::Context mine = memory::context();
  Asked asked;
  std::thread([&] {
    const memory::ContextGuard same([&](memory::Context& c) { c = mine; });
    asked = asked_by(training.domain(),
                     [&] { step(batch.first, batch.second).item(); });
  }).join();
  EXPECT_EQ(asked, Asked());
}

// Its logits come in three blocks of scratch.
TEST(CompiledQuietHeadTest, WithALastLayerInBlocksOfRows) {
  if (!support::is_counting()) {
    GTEST_SKIP() << "a sanitizer counts here";
  }
  const auto domain =
      Domain::create({.name = "head", .host = memory::HostAllocator::kPooled});
  const UseDomain use(*domain);
  const Tensor w = requires_grad_(randn({8192, 4}));
  const Tensor x = randn({600, 4});
  const Tensor labels = randint(0, 8192, {600});
  auto step = neap::compile([&](const Tensor& rows, const Tensor& y) {
    const Tensor loss = linear_cross_entropy(rows, w, {}, y);
    backward(loss);
    return loss;
  });
  double sum = 0;
  const Asked asked = asked_by(*domain, [&] { sum += step(x, labels).item(); });
  EXPECT_EQ(asked, Asked());
  EXPECT_GT(sum, 0);
}

INSTANTIATE_TEST_SUITE_P(All, CompiledQuietTest, ::testing::ValuesIn(kAllKinds),
                         kind_of);

}  // namespace
}  // namespace neap::tests
