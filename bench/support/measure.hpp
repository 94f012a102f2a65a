// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Measuring contenders side by side. They take turns in one run, round after
// round, each round beginning with another one, so that whatever else the
// machine does in the meantime falls on all of them alike.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace neap::bench {

/// Wall-clock seconds since some fixed point.
double now() noexcept;

/// Keeps the compiler from leaving out what computes `value`.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

struct Contender {
  std::string name;
  /// Does the thing `count` times. Returns seconds a time: a figure for each,
  /// or means of some of them.
  std::function<std::vector<double>(int count)> turn;
};

/// A contender whose calls are timed in bunches, so that most of the figures
/// meet no other process: for what takes nanoseconds or microseconds.
template <class Body>
Contender timed(std::string name, Body body) {
  return {std::move(name), [body = std::move(body)](int count) mutable {
            constexpr int kBunches = 32;
            const int bunch = (count - 1) / kBunches + 1;
            std::vector<double> seconds;
            for (int done = 0; done < count;) {
              const int calls = std::min(bunch, count - done);
              const double begin = now();
              for (int i = 0; i < calls; ++i) {
                body();
              }
              seconds.push_back((now() - begin) / calls);
              done += calls;
            }
            return seconds;
          }};
}

/// A contender of which every call is timed: for what takes milliseconds. Each
/// turn begins with `unmeasured` calls that are not, where caches and threads
/// have served others meanwhile.
template <class Body>
Contender timed_each(std::string name, Body body, int unmeasured = 0) {
  return {std::move(name),
          [body = std::move(body), unmeasured](int count) mutable {
            for (int i = 0; i < unmeasured; ++i) {
              body();
            }
            std::vector<double> seconds;
            for (int i = 0; i < count; ++i) {
              const double begin = now();
              body();
              seconds.push_back(now() - begin);
            }
            return seconds;
          }};
}

struct Schedule {
  int rounds = 7;
  double turn_seconds = 0.05;  // what a turn should last
  int most_calls = 1 << 24;    // of one turn
  /// Between turns: the other's idle threads spin for a while before they
  /// sleep.
  std::chrono::milliseconds pause{0};
};

struct Timing {
  std::string name;
  double median = 0;  // seconds
  double low = 0;     // 10th percentile
  int reps = 0;       // calls measured, all rounds together
};

/// Warms each contender up (which finds how many calls make a turn), then
/// measures. One Timing for each, in their order.
std::vector<Timing> measure(std::span<const Contender> contenders,
                            const Schedule& schedule);

/// The one with the smallest median. REQUIRES: not empty.
const Timing& fastest(std::span<const Timing> timings);

/// NaN for no values.
double median(std::vector<double> values);
double quantile(std::vector<double> values, double share);
double geometric_mean(std::span<const double> values);

}  // namespace neap::bench
