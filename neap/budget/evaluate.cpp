// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/evaluate.hpp"

#include <algorithm>

namespace neap::budget {
namespace {

// A clock for the calls and one for the channel, in nanoseconds.
class Clocks {
 public:
  explicit Clocks(const Problem& problem)
      : problem_(problem), done_(problem.values.size(), 0) {}

  void run(std::int64_t price) { now_ += price; }

  void move(std::size_t v, std::int64_t rate) {
    channel_ = std::max(now_, channel_) + duration(v, rate);
    done_[v] = channel_;
  }

  // RETURNS: the stall.
  std::int64_t wait_for(std::size_t v) {
    const std::int64_t stall = std::max<std::int64_t>(done_[v] - now_, 0);
    now_ += stall;
    return stall;
  }

 private:
  // size 10^9 / rate by hand, digit for digit, rounded up.
  std::int64_t duration(std::size_t v, std::int64_t rate) const {
    std::int64_t rest = problem_.values[v].size;
    std::int64_t out = 0;
    for (int digit = 0; digit <= 9; ++digit) {
      out = 10 * out + rest / rate;
      rest = rest % rate * 10;
    }
    return out + (rest > 0 ? 1 : 0);
  }

  const Problem& problem_;
  memory::Vector<std::int64_t> done_;  // the latest move of each value
  std::int64_t now_ = 0;
  std::int64_t channel_ = 0;  // when it will be free
};

class Walk {
 public:
  Walk(const Problem& problem, const Schedule& schedule)
      : problem_(problem),
        schedule_(schedule),
        clocks_(problem),
        is_there_(problem.values.size(), 0),
        is_coming_(problem.values.size(), 0),
        is_on_file_(problem.values.size(), 0) {}

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
      if (schedule_.runs[i].action == Action::kRun) {
        run(i);
      } else {
        move(i);
      }
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
      if (problem_.values[v].outlives && is_coming_[v] != 0) {
        await(static_cast<std::int32_t>(v));
      }
    }
    result_.price += result_.stalls;
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

  void await(std::int32_t v) {
    result_.stalls += clocks_.wait_for(at(v));
    is_coming_[at(v)] = 0;
  }

  void run(std::size_t index) {
    const std::int32_t number = schedule_.runs[index].index;
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
      if (is_coming_[at(v)] != 0) {
        await(v);
      }
    }
    for (const std::int32_t v : call.makes) {
      if (is_there_[at(v)] != 0) {
        await(v);
      }
    }
    await_drops(index);
    clocks_.run(call.price);
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
    note_peak(needed, index);
  }

  void note_peak(std::int64_t needed, std::size_t index) {
    if (needed > result_.peak) {
      result_.peak = needed;
      result_.peak_run = static_cast<std::int32_t>(index);
    }
  }

  void move(std::size_t index) {
    const auto [v, drops_end, action] = schedule_.runs[index];
    if (!problem_.channel || v < 0 || at(v) >= problem_.values.size() ||
        !problem_.values[at(v)].may_spill) {
      fail(Fault::kMayNot, v);
      return;
    }
    await_drops(index);
    switch (action) {
      case Action::kRun:
        break;
      case Action::kWrite:
        write(v);
        break;
      case Action::kFetch:
        fetch(v, index);
        break;
      case Action::kAwait:
        if (is_there_[at(v)] == 0) {
          fail(Fault::kNotThere, v);
        } else {
          await(v);
        }
        break;
    }
    const auto drops = schedule_.drops_of(index);
    if (result_.is_good() && action != Action::kAwait &&
        std::find(drops.begin(), drops.end(), v) != drops.end()) {
      fail(Fault::kDrop, v);  // its move has only begun
    }
    if (result_.is_good()) {
      drop(index);
    }
  }

  void write(std::int32_t v) {
    const Channel& channel = *problem_.channel;
    if (is_there_[at(v)] == 0 || is_coming_[at(v)] != 0) {
      fail(Fault::kNotThere, v);
    } else if (is_on_file_[at(v)] != 0) {
      fail(Fault::kWrittenTwice, v);
    } else if (size(v) > channel.most_written - result_.written) {
      fail(Fault::kTooMuchWritten, v);
    } else {
      is_on_file_[at(v)] = 1;
      clocks_.move(at(v), channel.write_rate);
      result_.written += size(v);
      result_.price += bus_price(v);
    }
  }

  void fetch(std::int32_t v, std::size_t index) {
    if (is_on_file_[at(v)] == 0) {
      fail(Fault::kNotOnFile, v);
    } else if (is_there_[at(v)] != 0) {
      fail(Fault::kFetchTwice, v);
    } else {
      is_there_[at(v)] = 1;
      is_coming_[at(v)] = 1;
      clocks_.move(at(v), problem_.channel->read_rate);
      live_ += size(v);
      note_peak(live_, index);
      result_.fetched += size(v);
      result_.price += bus_price(v);
    }
  }

  // Rounded up.
  std::int64_t bus_price(std::int32_t v) const {
    constexpr std::int64_t kMebi = 1024 * 1024;
    const std::int64_t price = problem_.channel->bus_price;
    const std::int64_t rest = size(v) % kMebi * price;
    return size(v) / kMebi * price + rest / kMebi + (rest % kMebi > 0 ? 1 : 0);
  }

  // Their memory may be taken over. What is not there is a fault later on.
  void await_drops(std::size_t index) {
    for (const std::int32_t v : schedule_.drops_of(index)) {
      if (v >= 0 && at(v) < is_there_.size() && is_there_[at(v)] != 0) {
        await(v);
      }
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
  Clocks clocks_;
  memory::Vector<std::uint8_t> is_there_;   // or is coming
  memory::Vector<std::uint8_t> is_coming_;  // fetched, not waited for yet
  memory::Vector<std::uint8_t> is_on_file_;
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
    case Fault::kMayNot:
      return "may not";
    case Fault::kNotThere:
      return "not there";
    case Fault::kWrittenTwice:
      return "written twice";
    case Fault::kTooMuchWritten:
      return "too much written";
    case Fault::kNotOnFile:
      return "not on file";
    case Fault::kFetchTwice:
      return "fetch twice";
  }
  return "unknown";
}

}  // namespace neap::budget
