// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/away.hpp"

#include <algorithm>
#include <utility>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/program/keep_away.hpp"
#include "neap/program/update_parts.hpp"

namespace neap::compiler {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

// A storage is updated in so many parts, of at most so many of the file's; one
// with less than that share of the largest does not set what the arena needs,
// since the gradient of the largest is there as a whole.
constexpr Bytes kPartsOfUpdate = 16;
constexpr Bytes kMostAtATime = 4;
constexpr Bytes kShareOfLargest = 4;

std::int64_t time_of(Bytes bytes, std::int64_t rate) {
  // In KiB, so that no product is too large; a page more for what is cut off.
  return (bytes / kKiB + 4) * kNanoseconds /
         std::max<std::int64_t>(rate / kKiB, 1);
}

// Keeps the same ones in all programs of a step, whatever the order of updates.
void keep_largest(memory::Vector<AwayMoves>& moves, std::int64_t percent) {
  Bytes all = 0;
  for (const AwayMoves& one : moves) {
    all += one.what.size;
  }
  std::ranges::stable_sort(
      moves, {}, [](const AwayMoves& one) { return one.what.external; });
  std::ranges::stable_sort(moves, std::ranges::greater(),
                           [](const AwayMoves& one) { return one.what.size; });
  const Bytes wanted = all / 100 * percent + all % 100;
  Bytes some = 0;
  std::size_t count = 0;
  while (count < moves.size() && some < wanted) {
    some += moves[count++].what.size;
  }
  moves.resize(count);
  std::ranges::stable_sort(
      moves, {}, [](const AwayMoves& one) { return one.what.uses.back(); });
}

memory::Vector<AwayMoves> chosen(const Program& program, const Away& choice,
                                 const SpillOptions& options) {
  memory::Vector<AwayMoves> out;
  if (options.states) {
    for (MayGo& state : states_of(program, options.least)) {
      out.push_back({std::move(state), false, {}, 0});
    }
  }
  if (choice.has_weights && options.weights) {
    for (MayGo& weight : weights_of(program, options.least)) {
      out.push_back({std::move(weight), true, {}, 0});
    }
  }
  keep_largest(out, choice.percent);
  return out;
}

std::int64_t elements_at_a_time(Bytes size, const SpillOptions& options,
                                std::int64_t elements) {
  const Bytes bytes =
      std::clamp(size / kPartsOfUpdate / options.part * options.part,
                 options.part, kMostAtATime * options.part);
  return bytes / (size / elements);
}

// The updates that are cut: of large storages, by kernels that may be.
memory::Vector<UpdateCut> cuts_of(const Program& program,
                                  std::span<const Binding> bound,
                                  std::span<const AwayMoves> moves,
                                  const SpillOptions& options) {
  Bytes largest = 2 * options.part * kShareOfLargest;  // the least that counts
  for (const AwayMoves& one : moves) {
    largest = std::max(largest, one.what.size);
  }
  memory::Vector<UpdateCut> out;
  for (const AwayMoves& one : moves) {  // in the order of updates
    const MayGo& what = one.what;
    if (what.update == kNoCall || what.size <= largest / kShareOfLargest ||
        bound[what.update].kernel->piece == nullptr ||
        (!out.empty() && out.back().call == what.update)) {
      continue;
    }
    const std::int64_t elements =
        elements_of_update(program, program.calls[what.update]);
    if (elements != 0) {
      out.push_back(
          {what.update, elements_at_a_time(what.size, options, elements)});
    }
  }
  return out;
}

// A call's price is that of its parts, which follow one another.
memory::Vector<std::int64_t> shared_out(std::span<const std::int64_t> prices,
                                        std::span<const std::uint32_t> from) {
  memory::Vector<std::int64_t> out;
  out.reserve(from.size());
  for (std::size_t i = 0; i < from.size();) {
    std::size_t end = i;
    while (end < from.size() && from[end] == from[i]) {
      ++end;
    }
    std::int64_t rest = prices[from[i]];
    for (; i < end; ++i) {
      out.push_back(rest / static_cast<std::int64_t>(end - i));
      rest -= out.back();
    }
  }
  return out;
}

// Cuts large updates; their moves are of parts then.
void cut_updates(Program& program, std::span<const Binding> bound,
                 const SpillOptions& options, memory::Vector<AwayMoves>& moves,
                 memory::Vector<std::int64_t>& prices) {
  const memory::Vector<UpdateCut> cuts =
      cuts_of(program, bound, moves, options);
  if (!cuts.empty()) {
    const auto from = compiler::cut_updates(program, cuts, moves);
    prices = shared_out(prices, from);
    std::ranges::stable_sort(
        moves, {}, [](const AwayMoves& one) { return one.what.uses.back(); });
  }
}

// When each moves.
class Timetable {
 public:
  Timetable(const Program& program, const Away& choice,
            const budget::Channel& channel,
            std::span<const std::int64_t> prices,
            memory::Vector<AwayMoves>& moves)
      : count_(static_cast<std::uint32_t>(program.calls.size())),
        choice_(choice),
        channel_(channel),
        prices_(prices),
        moves_(moves) {}

  void set() {
    note_calls();
    for (AwayMoves& one : moves_) {
      group(one);
      one.await = one.what.update + 1;  // none updates it: nobody asks
    }
    if (choice_.is_early) {
      begin_early();
      end_late();
    }
  }

 private:
  // Sums over the calls before each: times, and uses of weights.
  void note_calls() {
    memory::Vector<std::uint32_t> uses(count_, 0);
    for (const AwayMoves& one : moves_) {
      for (const std::uint32_t use : one.what.uses) {
        uses[use] += one.is_weight ? 1U : 0U;
      }
    }
    before_.reserve(count_ + std::size_t{1});
    weights_before_.reserve(count_ + std::size_t{1});
    before_.push_back(0);
    weights_before_.push_back(0);
    for (std::uint32_t i = 0; i < count_; ++i) {
      before_.push_back(before_.back() + prices_[i]);
      weights_before_.push_back(weights_before_.back() + uses[i]);
    }
  }

  // Apart where another weight is used in between, and where moves are to be
  // hidden, a fetch may be.
  bool are_apart(const MayGo& what, std::uint32_t use,
                 std::uint32_t next) const {
    const std::int64_t gap = before_[next] - before_[use + 1];
    return weights_before_[next] != weights_before_[use + 1] &&
           (!choice_.is_early || gap > time_of(what.size, channel_.read_rate));
  }

  void group(AwayMoves& one) const {
    for (const std::uint32_t use : one.what.uses) {
      if (one.groups.empty() ||
          are_apart(one.what, one.groups.back().last, use)) {
        one.groups.push_back({use, use, use});
      }
      one.groups.back().last = use;
    }
  }

  // Values that are first used by one call come together: as far before it as
  // other calls need to hide that. States alone do not come before the update
  // before theirs has ended, and beside weights nothing does before that begins
  // for which the last but one came.
  void begin_early() {
    struct Start {
      UseGroup* uses;
      std::uint32_t after;  // the group of the same storage before ends
      Bytes size;
    };
    memory::Vector<Start> starts;
    memory::Vector<std::uint32_t> read_until;  // of externals; parts follow
    for (AwayMoves& one : moves_) {
      const MayGo& what = one.what;
      if (what.update == kNoCall) {
        read_until.resize(
            std::max<std::size_t>(read_until.size(), what.external + 1U), 0);
        read_until[what.external] = one.groups.back().last + 1;
      }
      std::uint32_t after = what.is_counted ? 0 : read_until[what.external];
      for (UseGroup& uses : one.groups) {
        starts.push_back({&uses, after, one.what.size});
        after = uses.last + 1;
      }
    }
    std::ranges::stable_sort(
        starts, {}, [](const Start& start) { return start.uses->first; });
    std::uint32_t bound = 0;  // where it may begin, and the next ones may
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < starts.size();) {
      const std::uint32_t first = starts[i].uses->first;
      std::size_t end = i;
      Bytes bytes = 0;
      for (; end < starts.size() && starts[end].uses->first == first; ++end) {
        bytes += starts[end].size;
      }
      std::uint32_t fetch = first;
      std::int64_t time = time_of(bytes, channel_.read_rate);
      while (fetch > bound && time > 0) {
        time -= prices_[--fetch];
      }
      for (; i < end; ++i) {
        starts[i].uses->fetch = std::max(fetch, starts[i].after);
      }
      bound = choice_.has_weights ? next : first + 1;
      next = first;
    }
  }

  // A spill ends when calls have hidden it, but before the next update.
  void end_late() {
    std::uint32_t after = count_;
    for (std::size_t end = moves_.size(); end > 0;) {
      const std::uint32_t update = moves_[end - 1].what.update;
      std::size_t i = end;
      Bytes bytes = 0;
      for (; i > 0 && moves_[i - 1].what.update == update; --i) {
        bytes += moves_[i - 1].what.size;
      }
      if (update != kNoCall) {
        std::uint32_t await = update + 1;
        std::int64_t time = time_of(bytes, channel_.write_rate);
        while (await < after && time > 0) {
          time -= prices_[await++];
        }
        for (std::size_t k = i; k < end; ++k) {
          moves_[k].await = await;
        }
        after = update;
      }
      end = i;
    }
  }

  std::uint32_t count_;
  const Away& choice_;
  const budget::Channel& channel_;
  std::span<const std::int64_t> prices_;
  memory::Vector<AwayMoves>& moves_;
  memory::Vector<std::int64_t> before_;
  memory::Vector<std::uint32_t> weights_before_;
};

// A run, as far as the file is concerned: one state at a time moves.
class Clock {
 public:
  Clock(const Program& program, const budget::Channel& channel)
      : program_(program), channel_(channel), ready_(program.away.size(), 0) {}

  /// The price of a call: its own, or that of the move.
  std::int64_t price_of(const Call& call, std::int64_t own) {
    std::int64_t price = own;
    if (moves_state(call)) {
      const std::uint32_t s = call.slot - kFirstAway;
      const Bytes size = program_.away[s].size;
      if (call.kind == CallKind::kAwait) {
        price = std::max<std::int64_t>(ready_[s] - now_, 0);
        stalls_ += price;
      } else {
        price = size / kKiB * channel_.bus_price / kKiB;
        const bool reads = call.kind == CallKind::kFetch;
        free_ = std::max(free_, now_) +
                time_of(size, reads ? channel_.read_rate : channel_.write_rate);
        ready_[s] = free_;
      }
    }
    now_ += price;
    return price;
  }
  std::int64_t stalls() const noexcept { return stalls_; }

 private:
  const Program& program_;
  const budget::Channel& channel_;
  memory::Vector<std::int64_t> ready_;
  std::int64_t now_ = 0;
  std::int64_t free_ = 0;
  std::int64_t stalls_ = 0;
};

}  // namespace

MostAway most_away(const Program& program, const SpillOptions& options) {
  MostAway out;
  if (options.folder.empty()) {
    return out;
  }
  if (options.states) {
    for (const MayGo& state : states_of(program, options.least)) {
      out.states += state.size;
      out.largest = std::max(out.largest, state.size);
    }
  }
  if (options.weights) {
    for (const MayGo& weight : weights_of(program, options.least)) {
      out.weights += weight.size;
      out.largest = std::max(out.largest, weight.size);
    }
  }
  return out;
}

std::int64_t keep_away(Program& program, std::span<const Binding> bound,
                       const Away& choice, const budget::Channel& channel,
                       const SpillOptions& options,
                       memory::Vector<std::int64_t>& prices) {
  memory::Vector<AwayMoves> moves = chosen(program, choice, options);
  if (choice.in_parts) {
    cut_updates(program, bound, options, moves, prices);
  }
  Timetable(program, choice, channel, prices, moves).set();
  const auto from = keep_away(program, moves);
  memory::Vector<std::int64_t> out;
  out.reserve(from.size());
  Clock clock(program, channel);
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    out.push_back(clock.price_of(program.calls[i],
                                 from[i] == kNoCall ? 0 : prices[from[i]]));
  }
  prices.swap(out);
  return clock.stalls();
}

AwayTraffic away_traffic(const Program& program) noexcept {
  AwayTraffic out;
  for (const Call& call : program.calls) {
    if (moves_state(call) && call.kind != CallKind::kAwait) {
      const Bytes size = program.away[call.slot - kFirstAway].size;
      (call.kind == CallKind::kFetch ? out.fetched : out.written) += size;
    }
  }
  return out;
}

}  // namespace neap::compiler
