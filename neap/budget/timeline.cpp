// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/timeline.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace neap::budget {

Timeline::Timeline(const Problem& problem) : problem_(&problem) {
  if (has_channel()) {
    const Channel& channel = *problem.channel;
    costs_.reserve(problem.values.size());
    for (const Value& value : problem.values) {
      costs_.push_back(
          value.may_spill
              ? Cost{.write_time = time_to_move(value.size, channel.write_rate),
                     .read_time = time_to_move(value.size, channel.read_rate),
                     .bus_price = bus_price_of(value.size, channel)}
              : Cost{});
    }
    is_on_file_.resize(problem.values.size(), 0);
    made_at_.resize(problem.values.size(), 0);
    moved_until_.resize(problem.values.size(), 0);
    dropped_in_.resize(problem.values.size(), 0);
  }
}

void Timeline::begin(std::int64_t target) noexcept {
  target_ = target;
  now_ = 0;
  stalls_ = 0;
  written_ = 0;
  gap_peak_ = 0;
  channel_.clear();
  ready_.clear();
  begins_.clear();
  ends_.clear();
  usage_.clear();
  items_.clear();
  std::fill(is_on_file_.begin(), is_on_file_.end(), std::uint8_t{0});
  std::fill(moved_until_.begin(), moved_until_.end(), 0);
}

bool Timeline::may_spill(std::int32_t v) const noexcept {
  return problem_->values[at(v)].may_spill && size(v) > 0 &&
         (is_on_file(v) ||
          size(v) <= problem_->channel->most_written - written_);
}

std::int64_t Timeline::write_stall(std::int32_t v) const noexcept {
  if (is_on_file(v)) {
    return 0;
  }
  const std::int64_t duration = write_time(v);
  const std::int64_t start = channel_.earliest(made_at_[at(v)], duration);
  return std::max<std::int64_t>(start + duration - now_, 0);
}

std::int64_t Timeline::fetch_stall(std::int32_t v) const noexcept {
  const std::int64_t end = slot_of_fetch(v).start + read_time(v);
  return std::max<std::int64_t>(end - now_, 0);
}

// A fetch is as late as it can be in time, else as early as it can be. It goes
// back behind runs as long as they have room for it.
Timeline::Slot Timeline::slot_of_fetch(std::int32_t v) const noexcept {
  const std::int64_t duration = read_time(v);
  const std::size_t lowest = dropped_in_[at(v)];
  std::int64_t start =
      channel_.latest(ready(lowest), now_, duration)
          .value_or(channel_.earliest(ready(lowest), duration));
  std::size_t gap = ready_.size();
  if (gap_peak_ + size(v) <= target_) {
    while (gap > lowest && ready(gap) > start &&
           usage_[gap - 1] + size(v) <= target_) {
      --gap;
    }
  }
  if (ready(gap) > start) {
    start = channel_.earliest(ready(gap), duration);
    const std::size_t first = gap;
    for (gap = ready_.size(); gap > first && ready(gap) > start;) {
      --gap;
    }
  }
  return {gap, start};
}

void Timeline::write(std::int32_t v) {
  const std::int64_t duration = write_time(v);
  const std::int64_t start = channel_.earliest(made_at_[at(v)], duration);
  const auto run = std::upper_bound(ends_.begin(), ends_.end(), start);
  add({.gap = static_cast<std::size_t>(run - ends_.begin()),
       .time = start,
       .action = Action::kWrite,
       .value = v});
  channel_.book(start, duration);
  moved_until_[at(v)] = start + duration;
  is_on_file_[at(v)] = 1;
  written_ += size(v);
}

void Timeline::fetch(std::int32_t v, std::int64_t live) {
  const Slot slot = slot_of_fetch(v);
  const std::int64_t duration = read_time(v);
  add({.gap = slot.gap,
       .time = slot.start,
       .action = Action::kFetch,
       .value = v});
  channel_.book(slot.start, duration);
  moved_until_[at(v)] = slot.start + duration;
  gap_peak_ = slot.gap == usage_.size() ? std::max(gap_peak_, live)
                                        : gap_peak_ + size(v);
  for (std::size_t run = slot.gap; run < usage_.size(); ++run) {
    usage_[run] += size(v);
  }
}

bool Timeline::drop(std::int32_t v) {
  dropped_in_[at(v)] = ready_.size();
  const bool is_moved =
      moved_until_[at(v)] > (begins_.empty() ? 0 : begins_.back());
  if (is_moved) {
    wait_for(v);
    add({.gap = ready_.size(), .time = now_, .value = v});
  }
  return is_moved;
}

void Timeline::wait_for(std::int32_t v) noexcept {
  const std::int64_t stall = moved_until_[at(v)] - now_;
  if (stall > 0) {
    stalls_ += stall;
    now_ += stall;
  }
}

void Timeline::run(const Call& call, std::int64_t usage) {
  ready_.push_back(now_);
  for (const std::int32_t v : call.reads) {
    wait_for(v);
  }
  for (const std::int32_t v : call.makes) {
    wait_for(v);
  }
  begins_.push_back(now_);
  now_ += call.price;
  ends_.push_back(now_);
  usage_.push_back(std::max(usage, gap_peak_));
  gap_peak_ = 0;
  for (const std::int32_t v : call.makes) {
    made_at_[at(v)] = now_;
  }
}

void Timeline::add(const Item& item) {
  items_.push_back(item);
  items_.back().number = static_cast<std::uint32_t>(items_.size());
}

std::int64_t Timeline::finish(Schedule& schedule) {
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    return std::tie(a.gap, a.time, a.number) <
           std::tie(b.gap, b.time, b.number);
  });
  merged_.runs.clear();
  merged_.drops.clear();
  const auto push = [&](Run run) {
    run.drops_end = static_cast<std::uint32_t>(merged_.drops.size());
    merged_.runs.push_back(run);
  };
  auto item = items_.begin();
  for (std::size_t gap = 0; gap <= schedule.runs.size(); ++gap) {
    for (; item != items_.end() && item->gap == gap; ++item) {
      if (item->action == Action::kAwait) {
        merged_.drops.push_back(item->value);
      }
      push({.index = item->value, .action = item->action});
    }
    if (gap < schedule.runs.size()) {
      const auto drops = schedule.drops_of(gap);
      merged_.drops.insert(merged_.drops.end(), drops.begin(), drops.end());
      push(schedule.runs[gap]);
    }
  }
  std::swap(schedule, merged_);
  return replay(schedule);
}

// The times again, now that each move begins as early as its place allows.
std::int64_t Timeline::replay(const Schedule& schedule) {
  now_ = 0;
  stalls_ = 0;
  std::fill(moved_until_.begin(), moved_until_.end(), 0);
  memory::Vector<std::int64_t>& fetched_until = made_at_;
  std::fill(fetched_until.begin(), fetched_until.end(), 0);
  const auto wait_until = [&](std::int64_t time) {
    stalls_ += std::max<std::int64_t>(time - now_, 0);
    now_ = std::max(now_, time);
  };
  std::int64_t free_at = 0;  // the channel
  for (std::size_t i = 0; i < schedule.runs.size(); ++i) {
    const auto [index, drops_end, action] = schedule.runs[i];
    for (const std::int32_t v : schedule.drops_of(i)) {
      wait_until(moved_until_[at(v)]);
    }
    if (action == Action::kRun) {
      const Call& call = problem_->calls[at(index)];
      for (const std::int32_t v : call.reads) {
        wait_until(fetched_until[at(v)]);
      }
      for (const std::int32_t v : call.makes) {
        wait_until(moved_until_[at(v)]);
      }
      now_ += call.price;
    } else if (action != Action::kAwait) {
      const bool is_fetch = action == Action::kFetch;
      free_at = std::max(free_at, now_) +
                (is_fetch ? read_time(index) : write_time(index));
      moved_until_[at(index)] = free_at;
      (is_fetch ? fetched_until : moved_until_)[at(index)] = free_at;
    }
  }
  for (std::size_t v = 0; v < problem_->values.size(); ++v) {
    if (problem_->values[v].outlives) {
      wait_until(fetched_until[v]);
    }
  }
  return stalls_;
}

}  // namespace neap::budget
