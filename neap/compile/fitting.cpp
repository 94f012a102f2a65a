// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/fitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "neap/base/bytes.hpp"
#include "neap/base/function_ref.hpp"
#include "neap/base/raise.hpp"
#include "neap/compile/channel.hpp"
#include "neap/compile/orders.hpp"
#include "neap/memory/out_of_memory.hpp"

namespace neap::compiler {
namespace {

// Says what does not suffice, and what would. `away`: bytes of states and
// weights in a file, with which the arena is `least`.
// Values on their way to a file have whole pages; in so small an arena a plan
// without them may be lower.
constexpr Bytes kFewPages = 64 * 4 * kKiB;

// `left`: of a budget, for the arena of the program with the least.
std::string why_not(const ArenaLimit& limit, Bytes left, Bytes least,
                    Bytes away) {
  if (limit.budget == kUnlimited) {
    return fmt::format(
        "an arena of {}: the least that a plan was found for is {}",
        format_bytes(limit.bytes), format_bytes(least));
  }
  return fmt::format(
      "a budget of {}: it leaves {} for the arena{}, and the least that a plan "
      "was found for is {}; give about {}",
      format_bytes(limit.budget), format_bytes(std::max<Bytes>(left, 0)),
      away == 0 ? std::string()
                : fmt::format(" with {} of its state and weights in a file",
                              format_bytes(away)),
      format_bytes(least),
      format_bytes(std::max(limit.budget - left + least, limit.would_do)));
}

// The arena gets the memory of what is away, where the limit is what a budget
// leaves with all of it in memory.
MostAway most_away(const Program& program, const CompileOptions& options,
                   const ArenaLimit& limit) {
  return limit.budget == kUnlimited ? MostAway{}
                                    : most_away(program, options.spill);
}

// Cuts make long programs, for which a budget may have no memory, and it may
// have none for a further choice. It may have it for another: `failure`, the
// first, is of use where none is found.
void within_memory(std::exception_ptr& failure, bool is_optional,
                   base::FunctionRef<void()> attempt) {
  try {
    attempt();
  } catch (const OutOfMemory& error) {
    if (error.details().reason != OutOfMemory::Reason::kBudget) {
      throw;
    }
    if (!is_optional && !failure) {
      failure = std::current_exception();
    }
  }
}

// The passes that are tried for what is away.
memory::Vector<Passes> passes_for(const Away& away, const MostAway& most,
                                  const Passes& passes, const Cuts& cuts,
                                  const ArenaLimit& limit) {
  const Bytes bytes = most.states + (away.has_weights ? most.weights : 0);
  const Bytes gone = bytes / 100 * away.percent;
  return candidate_passes(passes, cuts, [&](std::size_t calls) {
    return limit.beside_calls(calls, gone);
  });
}

bool is_own_choice(const Passes& passes, const CompileOptions& options) {
  return passes.micro_batches != options.passes.micro_batches ||
         passes.time_pieces != options.passes.time_pieces;
}

// The least that a plan was found for, and the call that sets it.
class Refusal {
 public:
  /// LIFETIME: all of them outlive it.
  Refusal(const Program& traced, const CompileOptions& options,
          const Cuts& cuts, const ArenaLimit& limit, const MostAway& most,
          const std::optional<budget::Channel>& channel)
      : traced_(traced),
        options_(options),
        cuts_(cuts),
        limit_(limit),
        most_(most),
        channel_(channel) {}

  [[noreturn]] void raise(const Away& away) {
    look_at_all(away);
    if (widest_.bytes == 0) {  // no memory for the longer programs
      look_at_all({.percent = away.percent, .has_weights = away.has_weights});
    }
    look_at_kept();
    if (channel_ && least_ <= kFewPages) {
      const Ordered ordered(traced_, options_, options_.passes, std::nullopt);
      look(ordered.program(), ordered.least());
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    base::raise<PlanError>(
        "compile: the step does not fit into {}; {} alone needs {}{}",
        why_not(limit_, left_, least_, bytes_away_), widest_.call,
        format_bytes(widest_.bytes), why_whole());
  }

 private:
  // The op for which the batch is whole even where it is run in parts.
  std::string why_whole() const {
    const graph::Op* op = needs_whole_batch(traced_);
    return options_.passes.micro_batches == 1 || op == nullptr
               ? std::string()
               : fmt::format(
                     "; {} needs the whole batch at once, in micro-batches too",
                     op->name);
  }
  bool look(const Program& program, Bytes arena) {
    const Bytes left = limit_.without_bounds(program);
    const bool is_less = widest_.bytes == 0 || arena - left < least_ - left_;
    if (is_less) {
      least_ = arena;
      left_ = left;
      bytes_away_ = program.away_bytes();
    }
    return is_less;
  }
  // The more micro-batches, the lower they come.
  bool is_lowest(const Passes& passes) const {
    const auto& all = cuts_.micro_batches;
    const auto last = std::ranges::find_if(all.rbegin(), all.rend(),
                                           &MicroBatches::is_searched);
    return passes.micro_batches == options_.passes.micro_batches ||
           (last != all.rend() && passes.micro_batches == last->count);
  }
  void look_at_all(const Away& away) {
    for (const Passes& passes :
         passes_for(away, most_, options_.passes, cuts_, limit_)) {
      if (!is_lowest(passes)) {
        continue;
      }
      const bool is_optional = is_own_choice(passes, options_) || away.in_parts;
      within_memory(failure_, is_optional, [&] {
        const Ordered ordered(traced_, options_, passes, channel_, away);
        if (look(ordered.program(), ordered.least())) {
          widest_ = ordered.widest();
        }
      });
    }
  }
  void look_at_kept() {
    for (const Passes& passes : cuts_.kept(options_.passes)) {
      within_memory(failure_, is_own_choice(passes, options_), [&] {
        const Candidate found = all_kept(traced_, options_, passes);
        look(found.program, found.arena);
      });
    }
  }

  const Program& traced_;
  const CompileOptions& options_;
  const Cuts& cuts_;
  const ArenaLimit& limit_;
  const MostAway& most_;
  const std::optional<budget::Channel>& channel_;
  Bytes least_ = kUnlimited;
  Bytes left_ = 0;
  Bytes bytes_away_ = 0;
  Widest widest_;
  std::exception_ptr failure_;
};

// The cheapest candidate within a limit, among those that were tried.
class Trials {
 public:
  /// LIFETIME: all of them outlive it.
  Trials(const Program& traced, const CompileOptions& options, const Cuts& cuts,
         const ArenaLimit& limit, const MostAway& most)
      : traced_(traced),
        options_(options),
        cuts_(cuts),
        limit_(limit),
        most_(most) {
    cut_once();
  }

  void run(const std::optional<budget::Channel>& channel, const Away& away) {
    seen_.clear();
    for (const Passes& passes :
         passes_for(away, most_, options_.passes, cuts_, limit_)) {
      // Beside what state leaves, single calls gain little.
      if (away.percent == 0 || passes.fuse == options_.passes.fuse) {
        within_memory(failure_,
                      is_own_choice(passes, options_) || away.in_parts,
                      [&] { run(passes, channel, away); });
      }
    }
  }

  std::optional<Candidate>& best() noexcept { return best_; }
  /// Throws what the budget refused to a trial, if it refused anything.
  void rethrow_failure() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  // The cheapest cut with which it fits, no call running again.
  void cut_once() {
    for (const Passes& passes : cuts_.kept(options_.passes)) {
      within_memory(failure_, is_own_choice(passes, options_), [&] {
        Candidate found = all_kept(traced_, options_, passes);
        if (found.arena <= limit_.beside(found.program)) {
          keep_cheaper(std::move(found));
        }
      });
    }
  }
  void keep_cheaper(Candidate&& found) {
    if (!best_ || found.price < best_->price) {
      best_ = std::move(found);
    }
  }
  void run(const Passes& passes, const std::optional<budget::Channel>& channel,
           const Away& away) {
    const Ordered ordered(traced_, options_, passes, channel, away);
    const Bytes arena = limit_.beside(ordered.program());
    if (arena <= 0 || (best_ && best_->price <= ordered.price()) ||
        (channel && ordered.away_written() > channel->most_written) ||
        !is_new(ordered) ||
        (best_ && best_->price <= ordered.least_price(arena))) {
      return;
    }
    if (std::optional<Candidate> found = ordered.best(arena)) {
      keep_cheaper(std::move(*found));
    }
  }

  // Two orders are one where nothing is fused, or moved.
  bool is_new(const Ordered& ordered) {
    const std::uint64_t digest = ordered.digest();
    if (std::ranges::find(seen_, digest) != seen_.end()) {
      return false;
    }
    seen_.push_back(digest);
    return true;
  }

  const Program& traced_;
  const CompileOptions& options_;
  const Cuts& cuts_;
  const ArenaLimit& limit_;
  const MostAway& most_;
  memory::Vector<std::uint64_t> seen_;  // problems of one channel and choice
  std::optional<Candidate> best_;
  std::exception_ptr failure_;
};

Fitted taken(Candidate&& found, const ArenaLimit& limit = {}) {
  const Fitting& how = found.program.fitting;
  found.record.limit = how.limit;
  found.record.arena = found.arena;
  found.record.price = how.price;
  found.record.extra = how.extra;
  found.record.bound = how.bound;
  const Bytes left =
      limit.without_bounds(found.calls, found.program.away_bytes());
  return {std::move(found.program), std::move(found.record),
          left - found.arena};
}

}  // namespace

std::string what_is_away(const Fitting& fitting) {
  if (fitting.weights == 0) {
    return fmt::format("{} states", fitting.away);
  }
  return fitting.away == 0 ? fmt::format("{} weights", fitting.weights)
                           : fmt::format("{} weights and {} states",
                                         fitting.weights, fitting.away);
}

std::string ways_of(const Fitting& fitting) {
  std::string ways;
  if (fitting.pieces != 0) {
    ways = fmt::format("cross_entropy in {} pieces", fitting.pieces);
  }
  if (fitting.micro_batches != 0) {
    ways += fmt::format("{}{} micro-batches", ways.empty() ? "" : ", ",
                        fitting.micro_batches);
  }
  if (fitting.time_pieces != 0) {
    ways += fmt::format("{}recurrent layers in {} pieces of time",
                        ways.empty() ? "" : ", ", fitting.time_pieces);
  }
  if (fitting.again != 0) {
    ways += fmt::format("{}{} calls run again", ways.empty() ? "" : ", ",
                        fitting.again);
  }
  if (fitting.is_away()) {
    ways += fmt::format("{}{} in a file", ways.empty() ? "" : ", ",
                        what_is_away(fitting));
  }
  if (fitting.spilled != 0) {
    ways += fmt::format("{}{} values spilled", ways.empty() ? "" : ", ",
                        fitting.spilled);
  }
  if (fitting.written != 0) {
    ways +=
        fmt::format(", {} written a step", format_bytes_short(fitting.written));
  }
  return ways.empty() ? "all values kept" : ways;
}

Bytes written_a_day(const Fitting& fitting) noexcept {
  const auto run = static_cast<double>(fitting.price + fitting.extra);
  return run <= 0 ? 0
                  : static_cast<Bytes>(static_cast<double>(fitting.written) *
                                       (kNanosecondsOfDay / run));
}

Fitted all_away(const Program& traced, CompileOptions& options) {
  constexpr Bytes kMuch = Bytes{1} << 50U;
  constexpr auto kDay = static_cast<std::int64_t>(kNanosecondsOfDay);
  options.spill = with_rates(options.spill);
  Passes passes = options.passes;
  passes.copy_again = false;
  const Away all{.percent = 100,
                 .is_early = options.debug.away == Debug::Away::kEarly,
                 .has_weights = true,
                 .in_parts = true};
  const Ordered ordered(traced, options, passes,
                        channel_of(options.spill, kDay), all);
  std::optional<Candidate> found = ordered.best(kMuch);
  if (!found) {  // the ladder has no rungs for what needs no arena
    return taken(all_kept(traced, options, options.passes));
  }
  found->program.fitting = fitting_of(*found, ordered.price(), found->arena);
  return taken(std::move(*found));
}

namespace {

// The same as fitted(), but that costs which were measured are not written.
Fitted choose(const Program& traced, CompileOptions& options,
              const ArenaLimit& limit) {
  Candidate whole = all_kept(traced, options, options.passes);
  if (whole.arena <= limit.beside(whole.program)) {
    whole.program.fitting.limit = limit.bytes;
    return taken(std::move(whole), limit);
  }
  const Cuts cuts = cuts_of(traced, options, whole.arena);
  options.spill = with_rates(options.spill);
  const std::optional<budget::Channel> channel =
      channel_of(options.spill, whole.price);
  const MostAway most = most_away(whole.program, options, limit);
  Trials trials(traced, options, cuts, limit, most);
  trials.run(channel, {});
  const bool in_parts = has_parts(most, options.spill);
  for (const Away& away : kAwayChoices) {
    if ((away.has_weights ? most.weights != 0 : most.states != 0) &&
        (in_parts || !away.in_parts)) {
      trials.run(channel, away);
    }
  }
  std::optional<Candidate>& best = trials.best();
  if (channel) {
    trials.run(std::nullopt, {});
  }
  if (!best) {
    trials.rethrow_failure();
    Refusal(traced, options, cuts, limit, most, channel)
        .raise({.percent = most.is_none() ? 0 : 100,
                .has_weights = most.weights != 0,
                .in_parts = in_parts});
  }
  best->program.fitting =
      fitting_of(*best, whole.price,
                 limit.beside_calls(best->calls, best->program.away_bytes()));
  return taken(std::move(*best), limit);
}

}  // namespace

Fitted fitted(const Program& traced, CompileOptions& options,
              const ArenaLimit& limit) {
  Fitted out = choose(traced, options, limit);
  if (options.costs) {
    options.costs->save();
  }
  return out;
}

}  // namespace neap::compiler
