// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Orders of a step's calls, and in each of them the schedules that need less
// memory for more time.
#pragma once

#include <optional>
#include <string>

#include "neap/base/function_ref.hpp"
#include "neap/budget/ladder.hpp"
#include "neap/compile/away.hpp"
#include "neap/compile/cuts.hpp"
#include "neap/compile/options.hpp"
#include "neap/compile/plan_file.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// A plan of the step in one order of its calls.
struct Candidate {
  Program program;
  Bytes arena = 0;
  std::size_t calls = 0;   // each once, which a limit counts (ArenaLimit)
  std::int64_t price = 0;  // of a run, and below what none in this order costs
  std::int64_t bound = 0;
  PlanRecord record{};  // passes, and what the schedule is of
};

/// The switches of passes as bits, and back. Pieces and micro-batches are no
/// part of them.
std::uint32_t bits_of(const Passes& passes) noexcept;
/// REQUIRES: bits_of() some passes.
Passes passes_of(std::uint32_t bits) noexcept;
inline constexpr std::uint32_t kPassBits = 8;

/// The step after these passes, each call once, `fitting.price` set.
/// THROWS: as run_passes(), bind() and plan().
Candidate all_kept(const Program& traced, const CompileOptions& options,
                   const Passes& passes);

/// The cost of a candidate beside the price with all values kept.
Fitting fitting_of(const Candidate& found, std::int64_t price, Bytes limit);

/// With and without what makes calls wide, or values long-lived, with heads in
/// pieces, and in micro-batches. `left` says which of these are looked at
/// first, and not which of them there are: a larger limit has all choices of a
/// smaller.
memory::Vector<Passes> candidate_passes(const Passes& passes, const Cuts& cuts,
                                        LeftBeside left);

/// The call that needs most memory at once: what it reads, makes and works in.
struct Widest {
  std::string call;  // "matmul of fc1"
  Bytes bytes = 0;
};

/// One order of the calls, and its schedules. LIFETIME: options outlive it.
class Ordered {
 public:
  /// `channel`: of the spill file, where there is one. `away`: none without.
  /// THROWS: as run_passes() and bind().
  Ordered(const Program& traced, const CompileOptions& options,
          const Passes& passes, const std::optional<budget::Channel>& channel,
          const Away& away = {});

  /// The price of all calls once: no schedule costs less.
  std::int64_t price() const noexcept { return price_; }
  /// Each call once.
  const Program& program() const noexcept { return program_; }
  /// Bytes of states and weights that are away: so much larger its arenas may
  /// be.
  Bytes away_bytes() const noexcept { return program_.away_bytes(); }
  /// Bytes of them that a run writes to the file.
  Bytes away_written() const noexcept { return traffic_.written; }
  /// The cheapest within the limit, where there is one.
  std::optional<Candidate> best(Bytes limit) const;
  /// No schedule within the limit costs less; the greatest number where there
  /// is none.
  std::int64_t least_price(Bytes limit) const;
  /// The least arena that a schedule is found for.
  Bytes least() const;
  /// The call that needs most at once.
  Widest widest() const;
  /// The identity of the problem: schedules of the same digest are of the same
  /// problem, at the same prices.
  std::uint64_t digest() const;
  const budget::Problem& problem() const noexcept { return problem_; }
  /// The program in the form of a schedule, its arena not planned.
  /// THROWS: InternalError where the schedule is none of the problem's.
  Candidate scheduled(const budget::Schedule& schedule) const;
  /// Shows candidates with an arena of at most `limit`, one after the other,
  /// from the least on.
  void for_each_within(Bytes limit,
                       base::FunctionRef<void(const Candidate&)> look) const;

 private:
  budget::LadderOptions effort() const;
  Candidate packed(const budget::Rung& rung) const;
  std::int64_t bound(const budget::Rung& rung) const;

  const CompileOptions& options_;
  Passes passes_;
  std::optional<budget::Channel> channel_;
  Away away_;
  Program program_;
  std::int64_t price_ = 0;
  std::int64_t state_stalls_ = 0;  // part of it
  AwayTraffic traffic_;
  budget::Problem problem_;
};

}  // namespace neap::compiler
