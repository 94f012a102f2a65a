// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/chain_seed.hpp"

#include <algorithm>

#include "neap/budget/evaluate.hpp"
#include "neap/budget/trim.hpp"

namespace neap::budget {
namespace {

// Units of memory for all residuals, at most about.
constexpr std::int64_t kUnits = 1024;
// Schedules of a chain that are looked at, at most.
constexpr std::int32_t kMostSeeds = 64;
// Runs of a stage at most, on average.
constexpr std::int32_t kMostRuns = 32;

// The calls of a reversal, in order: those of the stages that run again only
// where something that is read later comes from them.
class Emitter {
 public:
  Emitter(const Problem& problem, const Chain& chain)
      : problem_(problem), chain_(chain), is_run_(chain.needed_at.size(), 0) {}

  Schedule emit(std::span<const ChainStep> steps) {
    for (const ChainStep& step : steps) {
      const auto i = static_cast<std::size_t>(step.stage);
      if (step.kind == ChainStep::Kind::kReverse) {
        run_until(step.stage == 0
                      ? static_cast<std::int32_t>(problem_.calls.size())
                      : chain_.needed_at[i - 1]);
      } else if (is_run_[i] == 0) {
        is_run_[i] = 1;
        run_until(chain_.begins[i + 1]);
      } else {
        run_again(chain_.begins[i], chain_.begins[i + 1]);
      }
    }
    return needed_ones();
  }

 private:
  struct Candidate {
    std::int32_t call = 0;
    bool is_first = true;
  };

  void run_until(std::int32_t end) {
    for (; next_ < end; ++next_) {
      runs_.push_back({next_, true});
    }
  }

  void run_again(std::int32_t begin, std::int32_t end) {
    for (std::int32_t c = begin; c < end; ++c) {
      if (next_ <= problem_.calls[static_cast<std::size_t>(c)].again_until) {
        runs_.push_back({c, false});
      }
    }
  }

  // Backwards over all runs: what is read behind one comes from the latest run
  // that makes it.
  Schedule needed_ones() const {
    memory::Vector<std::uint8_t> is_needed(problem_.values.size(), 0);
    Schedule out;
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      const Call& call = problem_.calls[static_cast<std::size_t>(run->call)];
      bool is_used = run->is_first;
      for (const std::int32_t v : call.makes) {
        is_used = is_used || is_needed[static_cast<std::size_t>(v)] != 0;
      }
      if (!is_used) {
        continue;
      }
      for (const std::int32_t v : call.makes) {
        is_needed[static_cast<std::size_t>(v)] = 0;
      }
      for (const std::int32_t v : call.reads) {
        is_needed[static_cast<std::size_t>(v)] = 1;
      }
      out.runs.push_back({.index = run->call});
    }
    std::reverse(out.runs.begin(), out.runs.end());
    return out;
  }

  const Problem& problem_;
  const Chain& chain_;
  memory::Vector<std::uint8_t> is_run_;  // by stage
  std::int32_t next_ = 0;                // the call that runs first next
  memory::Vector<Candidate> runs_;
};

std::int32_t units(std::int64_t size, std::int64_t unit) {
  return static_cast<std::int32_t>((size + unit - 1) / unit);
}

}  // namespace

ChainSeeds::ChainSeeds(const Problem& problem)
    : problem_(problem), uses_(problem), chain_(find_chain(problem, uses_)) {
  if (!chain_) {
    return;
  }
  const std::int32_t count = chain_->stages();
  const std::int64_t unit =
      std::max<std::int64_t>(count * chain_->residual / kUnits, 1);
  const EqualStages stages{
      .count = count,
      .residual = std::max(units(chain_->residual, unit), 1),
      .state = std::max(units(chain_->state, unit), 1)};
  const std::int32_t most = count * stages.residual;
  checkpoints_.emplace(stages, most);
  std::int32_t last = Checkpoints::kImpossible;
  for (std::int32_t memory = stages.residual; memory <= most && last > count;
       memory += std::max(memory / kMostSeeds, 1)) {
    const std::int32_t runs = checkpoints_->runs(memory);
    if (runs >= last || runs > kMostRuns * count) {
      continue;
    }
    last = runs;
    const Evaluation found = evaluate(problem_, schedule(memory));
    if (found.is_good()) {
      seeds_.push_back({memory, found.peak, found.price});
    }
  }
}

Schedule ChainSeeds::schedule(std::int32_t memory) const {
  return trimmed(problem_,
                 Emitter(problem_, *chain_).emit(checkpoints_->steps(memory)));
}

std::optional<Found> ChainSeeds::within(std::int64_t target) const {
  const Seed* best = nullptr;
  for (const Seed& seed : seeds_) {
    if (seed.peak <= target && (best == nullptr || seed.price < best->price)) {
      best = &seed;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  return Found{.schedule = schedule(best->memory), .price = best->price};
}

}  // namespace neap::budget
