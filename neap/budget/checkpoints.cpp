// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/checkpoints.hpp"

#include <algorithm>

namespace neap::budget {

Checkpoints::Checkpoints(const EqualStages& stages, std::int32_t most)
    : stages_(stages),
      most_(most),
      from_kept_((static_cast<std::size_t>(stages.count) + 1) *
                     (static_cast<std::size_t>(most) + 1),
                 0),
      from_passing_(from_kept_) {
  for (std::int32_t count = 1; count <= stages.count; ++count) {
    for (std::int32_t memory = 0; memory <= most; ++memory) {
      // Both read entries of shorter chains alone, or of less memory.
      std::int32_t runs = kImpossible;
      advance(count, memory, runs);
      from_kept_[at(count, memory)] = runs;
      from_passing_[at(count, memory)] =
          std::min(whole(count, memory),
                   least(from_kept_, count, memory - stages_.state));
    }
  }
}

// The runs where the next stage is kept whole.
std::int32_t Checkpoints::whole(std::int32_t count,
                                std::int32_t memory) const noexcept {
  return std::min(kImpossible, 1 + least(from_passing_, count - 1,
                                         memory - stages_.residual));
}

// The number of stages that run before others are reversed, from a state that
// is kept; 0 where the next one is kept whole. `runs`: in all.
std::int32_t Checkpoints::advance(std::int32_t count, std::int32_t memory,
                                  std::int32_t& runs) const noexcept {
  runs = whole(count, memory);
  std::int32_t best = 0;
  for (std::int32_t some = 1; some < count; ++some) {
    const std::int32_t found = some +
                               least(from_passing_, count - some, memory) +
                               least(from_kept_, some, memory);
    if (found < runs) {
      runs = found;
      best = some;
    }
  }
  return best;
}

memory::Vector<ChainStep> Checkpoints::steps(std::int32_t memory) const {
  using Kind = ChainStep::Kind;
  // A reversal of `count` stages, or a step, that is still to be done.
  struct Task {
    ChainStep step;
    std::int32_t count = 0;  // 0: the step alone
    std::int32_t memory = 0;
    bool is_kept = false;  // the state before them
  };
  memory::Vector<ChainStep> out;
  memory::Vector<Task> tasks;
  tasks.push_back({{0, Kind::kReverse}, stages_.count, memory, true});
  while (!tasks.empty()) {
    Task task = tasks.back();
    tasks.pop_back();
    const std::int32_t first = task.step.stage;
    if (task.count == 0) {
      out.push_back(task.step);
      continue;
    }
    std::int32_t runs = whole(task.count, task.memory);
    if (!task.is_kept && runs > least(from_passing_, task.count, task.memory)) {
      task.memory -= stages_.state;
      task.is_kept = true;
    }
    const std::int32_t some =
        task.is_kept ? advance(task.count, task.memory, runs) : 0;
    const std::int32_t next = std::max(some, 1);
    for (std::int32_t i = 0; i < next; ++i) {
      out.push_back({first + i, Kind::kRun});
    }
    tasks.push_back({{first, Kind::kReverse}, some, task.memory, true});
    if (task.count > next) {
      tasks.push_back({{first + next, Kind::kReverse},
                       task.count - next,
                       task.memory - (some == 0 ? stages_.residual : 0),
                       false});
    }
  }
  return out;
}

}  // namespace neap::budget
