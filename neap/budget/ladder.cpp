// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/ladder.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "neap/budget/chain_seed.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/trim.hpp"

namespace neap::budget {
namespace {

// A walk that fails at so many rungs one below the other is at the floor.
constexpr int kMostFailures = 4;
// Fewer calls than these are walked with all rankings.
constexpr std::size_t kFewCalls = 600;
constexpr std::int64_t kAllRankings = 50;
// The search ends with the first schedule that it finds.
constexpr std::int64_t kAnyPrice = std::numeric_limits<std::int64_t>::max() - 1;

// 2^(30 - k/32)
constexpr std::array<std::int64_t, 32> kParts = {
    1073741824, 1050733751, 1028218693, 1006186087, 984625594, 963527098,
    942880699,  922676710,  902905651,  883558244,  864625413, 846098274,
    827968132,  810226483,  792865000,  775875538,  759250125, 742980960,
    727060411,  711481005,  696235434,  681316545,  666717336, 652430958,
    638450708,  624770026,  611382493,  598281827,  585461881, 572916640,
    560640218,  548626854};

}  // namespace

std::int64_t rung_of(std::int64_t full, std::int32_t k) noexcept {
  const std::int64_t part = kParts[static_cast<std::size_t>(k % 32)];
  const std::int64_t low = full % kParts[0];
  const std::int64_t scaled = full / kParts[0] * part + low * part / kParts[0];
  return scaled >> (k / 32);
}

std::int64_t full_memory(const Problem& problem) {
  check(problem);
  Decoder decoder(problem);
  constexpr std::int64_t kAnything = std::int64_t{1} << 62U;
  const Decoded* decoded = decoder.decode(kAnything, {}, kAnything);
  return decoded == nullptr ? 0 : evaluate(problem, decoded->schedule).peak;
}

namespace {

// The walks of a rung on the way down.
std::int64_t walks_down(const Problem& problem, const LadderOptions& options) {
  const std::int64_t walks =
      problem.calls.size() <= kFewCalls ? kAllRankings : first_walks(problem);
  // Once more with values that help kept.
  const bool is_twice = has_helpers(problem) && !problem.channel;
  return std::min(is_twice ? 2 * walks : walks, options.search.walks);
}

// Way down from rung to rung.
class Climb {
 public:
  /// LIFETIME: both outlive it.
  Climb(const Problem& problem, const LadderOptions& options)
      : problem_(problem),
        seeds_(problem),
        walks_(walks_down(problem, options)) {}

  /// The cheaper of what a few walks find and of the schedules by checkpoints.
  std::optional<Found> cheapest(std::int64_t target) const {
    return found(target, 0);
  }
  /// Whether cheapest() has one, at the first that is found.
  bool has_any(std::int64_t target) const {
    return found(target, kAnyPrice).has_value();
  }

 private:
  std::optional<Found> found(std::int64_t target,
                             std::int64_t good_enough) const {
    const std::optional<Found> seed = seeds_.within(target);
    return search(problem_, target,
                  {.walks = walks_, .good_enough = good_enough},
                  seed ? &*seed : nullptr);
  }

  const Problem& problem_;
  ChainSeeds seeds_;
  std::int64_t walks_;
};

// Down to where nothing is found any more. That is looked for from the full
// memory on, whatever the largest target that is asked for, so that the rungs
// below it are the same for each.
memory::Vector<Rung> climb_down(const Problem& problem,
                                const LadderOptions& options) {
  const std::int64_t full = full_memory(problem);
  const Climb climb(problem, options);
  memory::Vector<Rung> rungs;
  int failures = 0;
  std::int64_t last = full + 1;
  for (std::int32_t k = 0; failures < kMostFailures; k += options.step) {
    const std::int64_t target = rung_of(full, k);
    if (target < std::max<std::int64_t>(options.least, 1)) {
      break;
    }
    if (std::exchange(last, target) == target) {
      continue;  // where they are small
    }
    bool is_found = false;
    if (target > options.most || options.lowest_only) {
      is_found = climb.has_any(target);
      if (is_found && options.lowest_only) {
        rungs.assign(1, {.target = target, .found = {}, .peak = 0});
      }
    } else if (std::optional<Found> found = climb.cheapest(target)) {
      is_found = true;
      rungs.push_back({.target = target, .found = std::move(*found)});
    }
    failures = is_found ? 0 : failures + 1;
  }
  if (options.lowest_only && !rungs.empty()) {
    rungs.front().found = *climb.cheapest(rungs.front().target);
  }
  return rungs;
}

}  // namespace

memory::Vector<Rung> ladder(const Problem& problem,
                            const LadderOptions& options) {
  memory::Vector<Rung> rungs = climb_down(problem, options);
  std::reverse(rungs.begin(), rungs.end());
  // Up, each from the one below.
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    Found* const below = i == 0 ? nullptr : &rungs[i - 1].found;
    if (below != nullptr && below->price <= rungs[i].found.price) {
      const std::optional<Start> start = rungs[i].found.start;
      rungs[i].found = *below;
      rungs[i].found.start = start;
    }
    const std::int64_t walks =
        options.search.walks - walks_down(problem, options);
    if (walks > 0 && rungs[i].found.start) {
      rungs[i].found =
          *search(problem, rungs[i].target, {.walks = walks}, &rungs[i].found);
    }
    Schedule& schedule = rungs[i].found.schedule;
    schedule = trimmed(problem, schedule);
    rungs[i].peak = evaluate(problem, schedule).peak;
  }
  return rungs;
}

}  // namespace neap::budget
