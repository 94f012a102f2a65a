// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/closure.hpp"

#include <algorithm>

namespace neap::budget {

Closure::Closure(const Problem& problem, const Uses& uses)
    : problem_(&problem),
      uses_(&uses),
      call_stamp_(problem.calls.size(), 0),
      value_stamp_(problem.values.size(), 0) {
  calls_.reserve(problem.calls.size());
  reads_.reserve(problem.values.size());
}

void Closure::begin() noexcept {
  if (++stamp_ == 0) {
    std::fill(call_stamp_.begin(), call_stamp_.end(), 0U);
    std::fill(value_stamp_.begin(), value_stamp_.end(), 0U);
    stamp_ = 1;
  }
  calls_.clear();
  reads_.clear();
  run_price_ = 0;
  fetch_price_ = 0;
  again_until_ = kAlways;
}

bool Closure::add_call(std::int32_t call, std::int32_t position) {
  const auto index = static_cast<std::size_t>(call);
  if (call_stamp_[index] == stamp_) {
    return true;
  }
  call_stamp_[index] = stamp_;
  calls_.push_back(call);
  ++work_;
  run_price_ += problem_->calls[index].price;
  again_until_ = std::min(again_until_, problem_->calls[index].again_until);
  return position <= problem_->calls[index].again_until;
}

// The calls collected so far are also the queue of those still to be looked at.
bool Closure::collect(std::int32_t value, std::int32_t position,
                      std::span<const Place> places, std::int64_t most) {
  std::size_t next = calls_.size();
  bool may_run = add_call(uses_->maker(value), position);
  for (; may_run && next < calls_.size() && price() <= most; ++next) {
    const Call& call = problem_->calls[static_cast<std::size_t>(calls_[next])];
    for (const std::int32_t v : call.reads) {
      const auto at = static_cast<std::size_t>(v);
      if (value_stamp_[at] == stamp_) {
        continue;
      }
      value_stamp_[at] = stamp_;
      reads_.push_back(v);
      if (places[at] == Place::kFile) {
        fetch_price_ += fetch_prices_[at];
      } else if (places[at] == Place::kNowhere) {
        may_run = add_call(uses_->maker(v), position) && may_run;
      }
    }
  }
  return may_run;
}

}  // namespace neap::budget
