// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "support/measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace neap::bench {
namespace {

// The best of three turns: one of them may meet another process.
double turn_seconds(const Contender& contender, int calls) {
  double best = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 3; ++trial) {
    const double begin = now();
    contender.turn(calls);
    best = std::min(best, now() - begin);
  }
  return std::max(best, 1e-9);
}

// Doubles the count until a turn lasts a quarter of what it should: the last of
// these turns is a fair sample of its speed. The first calls meet cold caches
// and fresh pages.
int find_calls(const Contender& contender, const Schedule& schedule) {
  contender.turn(1);
  for (int calls = 1;; calls *= 2) {
    const double seconds = turn_seconds(contender, calls);
    if (seconds >= schedule.turn_seconds / 4 ||
        calls >= schedule.most_calls / 2) {
      const double fitting = calls * schedule.turn_seconds / seconds;
      return static_cast<int>(
          std::clamp(fitting, 1.0, static_cast<double>(schedule.most_calls)));
    }
  }
}

}  // namespace

double now() noexcept {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

std::vector<Timing> measure(std::span<const Contender> contenders,
                            const Schedule& schedule) {
  const std::size_t count = contenders.size();
  std::vector<int> calls;
  for (const Contender& contender : contenders) {
    calls.push_back(find_calls(contender, schedule));
  }
  std::vector<std::vector<double>> seconds(count);
  for (int round = 0; round < schedule.rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % count;
      std::this_thread::sleep_for(schedule.pause);
      const auto more = contenders[turn].turn(calls[turn]);
      seconds[turn].insert(seconds[turn].end(), more.begin(), more.end());
    }
  }
  std::vector<Timing> timings;
  for (std::size_t i = 0; i < count; ++i) {
    timings.push_back({contenders[i].name, median(seconds[i]),
                       quantile(seconds[i], 0.1), calls[i] * schedule.rounds});
  }
  return timings;
}

const Timing& fastest(std::span<const Timing> timings) {
  return *std::ranges::min_element(timings, {}, &Timing::median);
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double part = at - static_cast<double>(below);
  return values[below] + part * (values[above] - values[below]);
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double geometric_mean(std::span<const double> values) {
  double logs = 0;
  for (const double value : values) {
    logs += std::log(value);
  }
  return std::exp(logs / static_cast<double>(values.size()));
}

}  // namespace neap::bench
