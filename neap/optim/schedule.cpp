// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace neap::optim {
namespace {

double warmed_up(double lr, std::int64_t steps, std::int64_t step) noexcept {
  return step + 1 >= steps
             ? lr
             : lr * static_cast<double>(step + 1) / static_cast<double>(steps);
}

// Half a cosine that falls from `from` to `to` as `share` goes from 0 to 1.
double half_cosine(double from, double to, double share) noexcept {
  return to + (from - to) * 0.5 * (1.0 + std::cos(std::numbers::pi * share));
}

double share_of(std::int64_t part, std::int64_t whole) noexcept {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Schedule constant(double lr) noexcept {
  return [lr](std::int64_t) { return lr; };
}

Schedule warm_up(double lr, std::int64_t steps) noexcept {
  return [=](std::int64_t step) { return warmed_up(lr, steps, step); };
}

Schedule cosine(double lr, std::int64_t total, std::int64_t warmup,
                double min) noexcept {
  return [=](std::int64_t step) {
    if (step < warmup) {
      return warmed_up(lr, warmup, step);
    }
    if (step >= total) {
      return min;
    }
    return half_cosine(lr, min, share_of(step - warmup, total - warmup));
  };
}

Schedule linear(double lr, std::int64_t total, std::int64_t warmup,
                double min) noexcept {
  return [=](std::int64_t step) {
    if (step < warmup) {
      return warmed_up(lr, warmup, step);
    }
    return step >= total
               ? min
               : lr + (min - lr) * share_of(step - warmup, total - warmup);
  };
}

Schedule warmup_stable_decay(double lr, std::int64_t total, std::int64_t warmup,
                             std::int64_t decay, double min) noexcept {
  return [=](std::int64_t step) {
    if (step >= total) {
      return min;
    }
    const std::int64_t left = total - step;  // steps, this one included
    const double rate = warmed_up(lr, warmup, step);
    return left > decay ? rate : min + (rate - min) * share_of(left, decay);
  };
}

Schedule one_cycle(double lr, std::int64_t total, double rise) noexcept {
  return [=](std::int64_t step) {
    const double start = lr / 25.0;
    const double end = start / 1e4;
    const double top = rise * static_cast<double>(total) - 1.0;
    const auto last = static_cast<double>(total - 1);
    const auto now = static_cast<double>(step);
    if (now >= last) {
      return end;
    }
    return now < top ? half_cosine(start, lr, now / top)
                     : half_cosine(lr, end, (now - top) / (last - top));
  };
}

Schedule cosine_restarts(double lr, std::int64_t first, std::int64_t factor,
                         double min) noexcept {
  return [=](std::int64_t step) {
    std::int64_t length = std::max<std::int64_t>(first, 1);
    if (factor <= 1) {
      return half_cosine(lr, min, share_of(step % length, length));
    }
    constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
    std::int64_t since = step;  // the latest start; the turns are logarithmic
    while (since >= length) {
      since -= length;
      length = length > kForEver / factor ? kForEver : length * factor;
    }
    return half_cosine(lr, min, share_of(since, length));
  };
}

Schedule inverse_sqrt(double lr, std::int64_t warmup) noexcept {
  return [=](std::int64_t step) {
    return step < warmup
               ? warmed_up(lr, warmup, step)
               : lr * std::sqrt(share_of(std::max<std::int64_t>(warmup, 1),
                                         step + 1));
  };
}

Schedule step_decay(double lr, std::int64_t every, double factor) noexcept {
  return [=](std::int64_t step) {
    const std::int64_t drops = step / std::max<std::int64_t>(every, 1);
    return lr * std::pow(factor, static_cast<double>(drops));
  };
}

Schedule exponential(double lr, double gamma) noexcept {
  return [=](std::int64_t step) {
    return lr * std::pow(gamma, static_cast<double>(step));
  };
}

}  // namespace neap::optim
