// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/plateau.hpp"

#include <algorithm>
#include <cmath>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/optim/check.hpp"

namespace neap::optim {

using base::raise;

void PlateauOptions::check() const {
  if (!(factor >= 0.0 && factor < 1.0)) {
    raise<ValueError>("plateau: factor is {}, expected 0 <= factor < 1",
                      factor);
  }
  check_not_negative("plateau", "patience", static_cast<double>(patience));
  check_not_negative("plateau", "threshold", threshold);
  check_not_negative("plateau", "cooldown", static_cast<double>(cooldown));
  check_not_negative("plateau", "min_lr", min_lr);
  check_not_negative("plateau", "eps", eps);
}

ReduceOnPlateau::ReduceOnPlateau(Optimizer& optimizer,
                                 const PlateauOptions& options)
    : optimizer_(optimizer), options_(options) {
  options.check();
  state_.best = options.maximize ? -state_.best : state_.best;
}

bool ReduceOnPlateau::is_better(double measure) const noexcept {
  const double best = state_.best;
  const double sign = options_.maximize ? 1.0 : -1.0;
  const double least = options_.relative
                           ? best * (1.0 + sign * options_.threshold)
                           : best + sign * options_.threshold;
  return options_.maximize ? measure > least : measure < least;
}

bool ReduceOnPlateau::step(double measure) {
  // Asked first: in a trace this throws, and nothing has changed.
  const int groups = optimizer_.group_count();
  for (int group = 0; group < groups; ++group) {
    static_cast<void>(optimizer_.lr(group));
  }
  if (is_better(measure)) {
    state_.best = measure;
    state_.bad = 0;
  } else {
    ++state_.bad;
  }
  if (state_.cooling > 0) {
    --state_.cooling;
    state_.bad = 0;
  }
  if (state_.bad <= options_.patience) {
    return false;
  }
  for (int group = 0; group < groups; ++group) {
    const double old = optimizer_.lr(group);
    const double lower = std::max(old * options_.factor, options_.min_lr);
    if (old - lower > options_.eps) {
      optimizer_.set_lr(group, lower);
    }
  }
  state_.cooling = options_.cooldown;
  state_.bad = 0;
  return true;
}

const PlateauState& ReduceOnPlateau::state() const noexcept {
  base::tell_of_question("state", "the measures of a plateau", {});
  return state_;
}

void ReduceOnPlateau::set_state(const PlateauState& state) {
  if (std::isnan(state.best) || state.bad < 0 || state.cooling < 0) {
    raise<ValueError>("plateau: a state of best {}, {} bad and {} cooling",
                      state.best, state.bad, state.cooling);
  }
  state_ = state;
}

}  // namespace neap::optim
