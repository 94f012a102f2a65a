// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/evaluate.hpp"

#include <algorithm>

namespace neap::budget {
namespace {

class Walk {
 public:
  Walk(const Problem& problem, const Schedule& schedule)
      : problem_(problem),
        schedule_(schedule),
        is_there_(problem.values.size(), 0) {}

  Evaluation walk() {
    std::size_t drops = 0;
    for (const Run& run : schedule_.runs) {
      if (run.drops_end < drops || run.drops_end > schedule_.drops.size()) {
        return fail(Fault::kDrop, -1);
      }
      drops = run.drops_end;
    }
    for (std::size_t i = 0; i < schedule_.runs.size(); ++i) {
      result_.run = static_cast<std::int32_t>(i);
      run(i);
      if (!result_.is_good()) {
        return result_;
      }
    }
    result_.run = static_cast<std::int32_t>(schedule_.runs.size());
    if (next_ != problem_.calls.size()) {
      return fail(Fault::kOrder, -1);
    }
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      if (problem_.values[v].outlives && is_there_[v] == 0) {
        return fail(Fault::kAbsent, static_cast<std::int32_t>(v));
      }
    }
    result_.run = -1;
    return result_;
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  const Evaluation& fail(Fault fault, std::int32_t value) {
    result_.fault = fault;
    result_.value = value;
    return result_;
  }

  void run(std::size_t index) {
    const std::int32_t number = schedule_.runs[index].call;
    if (number < 0 || at(number) > next_ ||
        at(number) >= problem_.calls.size()) {
      fail(Fault::kOrder, -1);
      return;
    }
    const Call& call = problem_.calls[at(number)];
    if (at(number) == next_) {
      ++next_;
    } else if (static_cast<std::int64_t>(next_) > call.again_until) {
      fail(Fault::kTooLate, -1);
      return;
    } else {
      result_.price += call.price;
    }
    for (const std::int32_t v : call.reads) {
      if (is_there_[at(v)] == 0) {
        fail(Fault::kAbsent, v);
        return;
      }
    }
    note_peak(call, index);
    for (const std::int32_t v : call.makes) {
      live_ += is_there_[at(v)] == 0 ? size(v) : 0;
      is_there_[at(v)] = 1;
    }
    drop(index);
  }

  void note_peak(const Call& call, std::size_t index) {
    std::int64_t needed = live_ + call.scratch;
    for (const std::int32_t v : call.makes) {
      needed += size(v);
    }
    memory::Vector<std::int32_t> taken;
    const auto drops = schedule_.drops_of(index);
    for (const TakeOver& pair : call.take_overs) {
      const bool is_free =
          std::find(taken.begin(), taken.end(), pair.read) == taken.end() &&
          std::find(taken.begin(), taken.end(), pair.made) == taken.end();
      if (is_free && is_there_[at(pair.made)] == 0 &&
          std::find(drops.begin(), drops.end(), pair.read) != drops.end()) {
        needed -= std::min(size(pair.made), size(pair.read));
        taken.push_back(pair.read);
        taken.push_back(pair.made);
      }
    }
    if (needed > result_.peak) {
      result_.peak = needed;
      result_.peak_run = static_cast<std::int32_t>(index);
    }
  }

  void drop(std::size_t index) {
    for (const std::int32_t v : schedule_.drops_of(index)) {
      if (v < 0 || at(v) >= is_there_.size() || is_there_[at(v)] == 0) {
        fail(Fault::kDrop, v);
        return;
      }
      is_there_[at(v)] = 0;
      live_ -= size(v);
    }
  }

  std::int64_t size(std::int32_t v) const {
    return problem_.values[at(v)].size;
  }

  const Problem& problem_;
  const Schedule& schedule_;
  memory::Vector<std::uint8_t> is_there_;
  std::size_t next_ = 0;  // the call whose first run is the next
  std::int64_t live_ = 0;
  Evaluation result_;
};

}  // namespace

Evaluation evaluate(const Problem& problem, const Schedule& schedule) {
  check(problem);
  return Walk(problem, schedule).walk();
}

const char* name_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::kNone:
      return "none";
    case Fault::kOrder:
      return "order";
    case Fault::kAbsent:
      return "absent";
    case Fault::kTooLate:
      return "too late";
    case Fault::kDrop:
      return "drop";
  }
  return "unknown";
}

}  // namespace neap::budget
