// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// States that are in a file, where the file or the memory fails: a typed error,
// and what was before, or what a torn step says; never old values.
#include <gmock/gmock.h>

#include "neap/base/error.hpp"
#include "neap/compile/away_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/io_error.hpp"

namespace neap::compiler {
namespace {

constexpr int kSteps = 3;
constexpr std::int64_t kMostRuns = 80;  // of all operations that may fail

// The weights and moments after each number of steps.
struct Course {
  std::vector<Rows> weights;
  std::vector<Rows> moments;
};

Course course() {
  Course out;
  AwayNet net;
  auto step = net.compiled({});
  for (int i = 0; i <= kSteps; ++i) {
    out.weights.push_back(net.values());
    out.moments.push_back(net.moments());
    net.run(step);
  }
  return out;
}

enum class End { kFine, kBefore, kTorn };

struct Outcome {
  End end = End::kFine;
  std::int64_t steps = 0;       // that ended well
  std::int64_t operations = 0;  // of the file, until then
  int lost = 0;                 // moments and weights that nobody can read
};

class AwayFaultsTest : public AwayRoomsTest {
 protected:
  static const Course& whole() {
    static const Course instance = course();
    return instance;
  }

  // Steps until one fails. A weight and its moments are of one number of steps.
  Outcome run(files::FaultDoor& door) {
    AwayNet net;
    CompileOptions options = within(net, GetParam());
    options.spill.door = &door;
    auto step = net.compiled(options);
    Outcome out;
    try {
      for (; out.steps < kSteps; ++out.steps) {
        net.run(step);
      }
    } catch (const TornStep&) {
      out.end = End::kTorn;
    } catch (const IoError&) {
      out.end = End::kBefore;
    }
    out.operations = door.operations();
    EXPECT_EQ(net.adam->step_count(), out.steps);
    check(net, out);
    return out;
  }

  // The operations of a run without a fault.
  std::int64_t operations_of_a_run() {
    files::FaultDoor quiet(files::system_door());
    const Outcome fine = run(quiet);
    EXPECT_EQ(fine.end, End::kFine);
    return fine.operations;
  }

  // None where nobody can read it.
  static std::vector<float> weight_of(const AwayNet& net, std::size_t w,
                                      Outcome& out) {
    try {
      return floats(net.weights[w]);
    } catch (const IoError&) {
      ++out.lost;
      return {};
    }
  }

  // Elements that are not of one number of steps with their moments. A step
  // that is torn has not come to all of them.
  static std::size_t wrong(const std::vector<float>& weight, std::size_t w,
                           const std::vector<float>& moment, std::size_t m,
                           const Outcome& out) {
    const auto before = static_cast<std::size_t>(out.steps);
    const auto is_of = [&](std::size_t step, std::size_t i) {
      return weight[i] == whole().weights[step][w][i] &&
             moment[i] == whole().moments[step][m][i];
    };
    std::size_t count = 0;
    for (std::size_t i = 0; i < moment.size(); ++i) {
      const bool is_right =
          is_of(before, i) || (out.end == End::kTorn && is_of(before + 1, i));
      count += is_right ? 0 : 1;
    }
    return count;
  }

  void check(const AwayNet& net, Outcome& out) {
    Rows weights;
    for (std::size_t w = 0; w < net.weights.size(); ++w) {
      weights.push_back(weight_of(net, w, out));
    }
    std::size_t m = 0;
    net.adam->visit_state([&](std::string_view name, const Tensor& tensor) {
      const std::size_t w = m / 2;
      try {
        if (!weights[w].empty()) {
          EXPECT_EQ(wrong(weights[w], w, floats(tensor), m, out), 0U) << name;
        }
      } catch (const IoError&) {
        ++out.lost;
      }
      ++m;
    });
  }
};

TEST_P(AwayFaultsTest, EveryOperationFailsForGood) {
  const std::int64_t operations = operations_of_a_run();
  int before = 0;
  int torn = 0;
  const std::int64_t stride = 1 + operations / kMostRuns;
  for (std::int64_t n = 1; n <= operations; n += stride) {
    SCOPED_TRACE(n);
    files::FaultDoor door(files::system_door(), {.fail_at = n, .failures = 3});
    const Outcome out = run(door);
    EXPECT_EQ(out.lost, 0);  // the file works again, or memory had room
    before += out.end == End::kBefore ? 1 : 0;
    torn += out.end == End::kTorn ? 1 : 0;
  }
  EXPECT_GT(before, 5);
  EXPECT_GT(torn, 5);
}

TEST_P(AwayFaultsTest, TheFileIsNeverThereAgain) {
  const std::int64_t operations = operations_of_a_run();
  int lost = 0;
  const std::int64_t stride = 1 + operations / kMostRuns;
  for (std::int64_t n = 1; n <= operations; n += stride) {
    SCOPED_TRACE(n);
    files::FaultDoor door(files::system_door(), {.stop_at = n});
    const Outcome out = run(door);
    EXPECT_NE(out.end, End::kFine);
    lost += out.lost;
  }
  EXPECT_GT(lost, 0);
}

TEST_P(AwayFaultsTest, ADiskThatLiesIsNotBelieved) {
  operations_of_a_run();  // without a lie it is fine
  int refused = 0;
  for (std::int64_t n = 1; n <= 60; n += 3) {
    SCOPED_TRACE(n);
    files::FaultDoor door(files::system_door(), {.lie_at = n, .lies = 3});
    refused += run(door).end != End::kFine ? 1 : 0;
  }
  EXPECT_GT(refused, 5);
}

TEST_P(AwayFaultsTest, ADiskWithoutRoomIsAnErrorBeforeAnythingChanges) {
  files::FaultDoor door(files::system_door(), {.space = AwayNet::kState / 2});
  const Outcome out = run(door);
  EXPECT_EQ(out.end, End::kBefore);
  EXPECT_EQ(out.steps, 0);
}

// Each request of a first step fails once, then the step is as if nothing had
// been.
TEST_P(AwayFaultsTest, EveryRequestForMemoryFails) {
  for (std::int64_t n = 1;; n += 1 + n / 16) {
    SCOPED_TRACE(n);
    AwayNet net;
    auto step = net.compiled(within(net, GetParam()));
    const auto draws = net.generator.state();
    net.domain->fail_at(n);
    bool has_failed = false;
    try {
      net.run(step);
    } catch (const Error&) {
      has_failed = true;
    }
    const bool is_reached = net.domain->requests() >= n;
    net.domain->fail_at(0);
    if (has_failed) {
      ASSERT_EQ(net.values(), whole().weights[0]);
      ASSERT_EQ(net.moments(), whole().moments[0]);
      net.generator.set_state(draws);
      net.run(step);
    }
    ASSERT_EQ(net.values(), whole().weights[1]);
    ASSERT_EQ(net.moments(), whole().moments[1]);
    if (!is_reached) {
      break;
    }
  }
}

// The same of a later one, for which states have come home.
TEST_P(AwayFaultsTest, EveryRequestOfALaterStepFails) {
  for (std::int64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    AwayNet net;
    auto step = net.compiled(within(net, GetParam()));
    net.run(step);
    net.moments();
    const auto draws = net.generator.state();
    net.domain->fail_at(n);
    bool has_failed = false;
    try {
      net.run(step);
    } catch (const Error&) {
      has_failed = true;
    }
    net.domain->fail_at(0);
    if (!has_failed) {
      ASSERT_EQ(net.values(), whole().weights[2]);
      ASSERT_EQ(net.moments(), whole().moments[2]);
      break;
    }
    ASSERT_EQ(net.values(), whole().weights[1]);
    ASSERT_EQ(net.moments(), whole().moments[1]);
    net.generator.set_state(draws);
    net.run(step);
    ASSERT_EQ(net.moments(), whole().moments[2]);
  }
}

INSTANTIATE_TEST_SUITE_P(Rooms, AwayFaultsTest,
                         testing::Values(kTight, kTighter), name_of_room);

}  // namespace
}  // namespace neap::compiler
