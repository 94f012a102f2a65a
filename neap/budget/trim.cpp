// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/trim.hpp"

#include <algorithm>

namespace neap::budget {
namespace {

class Trim {
 public:
  Trim(const Problem& problem, const Schedule& schedule)
      : problem_(problem), schedule_(schedule), stays_(problem.values.size()) {}

  Schedule trim() {
    for (std::size_t i = 0; i < schedule_.runs.size(); ++i) {
      const Run& run = schedule_.runs[i];
      if (run.action == Action::kRun) {
        use(problem_.calls[at(run.index)], i);
      } else {
        move(run, i);
      }
      for (const std::int32_t v : schedule_.drops_of(i)) {
        const Stay& stay = stays_[at(v)];
        end(v, stay.move == Move::kNone ? stay.last_use : i);
      }
    }
    for (std::size_t v = 0; v < stays_.size(); ++v) {
      const Stay& stay = stays_[v];
      if (stay.is_there && stay.move == Move::kNone &&
          !problem_.values[v].outlives) {
        end(static_cast<std::int32_t>(v), stay.last_use);
      }
    }
    return built();
  }

 private:
  enum class Move : std::uint8_t { kNone, kWritten, kFetched };
  // A value's time in memory.
  struct Stay {
    bool is_there = false;
    Move move = Move::kNone;   // that nobody has waited for yet
    std::size_t last_use = 0;  // the run
  };
  struct Drop {
    std::size_t run;
    std::int32_t value;
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  // A run waits for what it reads to be fetched, and what it makes to be
  // written.
  void use(const Call& call, std::size_t i) {
    for (const std::int32_t v : call.reads) {
      Stay& stay = stays_[at(v)];
      stay.last_use = i;
      stay.move = stay.move == Move::kFetched ? Move::kNone : stay.move;
    }
    for (const std::int32_t v : call.makes) {
      const Stay& stay = stays_[at(v)];
      if (stay.is_there && stay.move == Move::kNone) {
        end(v, stay.last_use);
      }
      stays_[at(v)] = {.is_there = true, .last_use = i};
    }
  }

  void move(const Run& run, std::size_t i) {
    Stay& stay = stays_[at(run.index)];
    stay.is_there = true;
    stay.last_use = i;
    stay.move = run.action == Action::kWrite   ? Move::kWritten
                : run.action == Action::kFetch ? Move::kFetched
                                               : Move::kNone;
  }

  void end(std::int32_t v, std::size_t run) {
    drops_.push_back({run, v});
    stays_[at(v)] = {};
  }

  Schedule built() {
    std::ranges::stable_sort(drops_, {}, &Drop::run);
    Schedule out;
    out.runs = schedule_.runs;
    out.drops.reserve(drops_.size());
    for (const Drop& drop : drops_) {
      out.drops.push_back(drop.value);
    }
    auto next = drops_.begin();
    for (std::size_t i = 0; i < out.runs.size(); ++i) {
      while (next != drops_.end() && next->run == i) {
        ++next;
      }
      out.runs[i].drops_end = static_cast<std::uint32_t>(next - drops_.begin());
    }
    return out;
  }

  const Problem& problem_;
  const Schedule& schedule_;
  memory::Vector<Stay> stays_;
  memory::Vector<Drop> drops_;
};

}  // namespace

Schedule trimmed(const Problem& problem, const Schedule& schedule) {
  return Trim(problem, schedule).trim();
}

}  // namespace neap::budget
