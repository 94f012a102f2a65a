// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace neap::optim {
namespace {

double warmed_up(double lr, std::int64_t steps, std::int64_t step) noexcept {
  return step + 1 >= steps
             ? lr
             : lr * static_cast<double>(step + 1) / static_cast<double>(steps);
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
    const double progress = static_cast<double>(step - warmup) /
                            static_cast<double>(total - warmup);
    return min +
           (lr - min) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
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
