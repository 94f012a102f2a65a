// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/orders.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/budget/bound.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/compile/costs.hpp"
#include "neap/compile/plan.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/print.hpp"
#include "neap/program/scheduling.hpp"
#include "neap/program/verify.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

// Calls that the walks of one rung visit, about. In long programs each walk
// takes longer for each call, and checkpoints are as good.
constexpr std::int64_t kEffort = 40'000;
constexpr std::int64_t kLongProgram = 600;
constexpr std::int64_t kVeryLongProgram = 6'000;
constexpr std::int64_t kWalksOfLongProgram = 24;  // some cuts among them
constexpr std::int64_t kLittleEffort = 9'000;
constexpr std::int64_t kFewWalks = 6;
constexpr std::int64_t kLeastWalks = 60;  // all rankings, and some more
constexpr std::int64_t kMostWalks = 150;

// Micro-batches need less memory by themselves; below this share of it, calls
// that run again in fewer of them are as good.
constexpr std::int64_t kLeastShareOfMicroBatches = 2;

constexpr std::int32_t kLongestStep = 8;
constexpr std::int32_t kStepOfMicroBatches = 4;

// The factor from one rung to the next is 2^(-step/32): fewer where walks are
// longer.
std::int32_t rung_step(std::int64_t calls) {
  if (calls <= 600) {
    return 1;
  }
  if (calls <= 2000) {
    return 2;
  }
  return calls <= 4000 ? 4 : kLongestStep;
}

// A schedule may need less than the target of its rung: beside the way from one
// rung to the next, what the walk kept for nobody. Rungs so much higher are
// looked at, too.
Bytes most_target(Bytes limit) {
  return limit + limit / 4;
}

// The least limit for which a rung is looked at.
Bytes least_limit(Bytes target) {
  return target - target / 5;
}

// Where values are spilled, passes may lower what a schedule needs by a little.
Bytes most_peak(Bytes limit) {
  return limit + limit / 16;
}

bool may_fit(const budget::Rung& rung, Bytes limit) {
  return rung.peak <= most_peak(limit);
}

// "matmul of fc1", or where it was called.
std::string place_of(const Program& program, const Call& call) {
  const std::string_view layer = owner_path(program, call.owner);
  return layer.empty()
             ? fmt::format("{} at {}", call.name, base::format_site(call.site))
             : fmt::format("{} of {}", call.name, layer);
}

Bytes arena_of(const Program& program, const CompileOptions& options) {
  return plan(program, tensor::executor().threads(), options.debug,
              options.planner, options.paged)
      .space()
      .bytes;
}

constexpr std::array<bool Passes::*, kPassBits> kSwitches{
    &Passes::dead_code,      &Passes::common_subexpressions,
    &Passes::fold_constants, &Passes::in_place,
    &Passes::fuse,           &Passes::gradient_release,
    &Passes::reorder,        &Passes::copy_again};

// One hash of numbers, fed one by one.
class NumberHash {
 public:
  NumberHash& add(std::int64_t number) noexcept {
    state_ = XXH3_64bits_withSeed(&number, sizeof(number), state_);
    return *this;
  }
  void add(std::span<const std::int32_t> numbers) noexcept {
    add(static_cast<std::int64_t>(numbers.size()));
    state_ = XXH3_64bits_withSeed(numbers.data(), numbers.size_bytes(), state_);
  }
  std::uint64_t get() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace

std::uint32_t bits_of(const Passes& passes) noexcept {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kSwitches.size(); ++i) {
    bits |= passes.*kSwitches[i] ? 1U << i : 0U;
  }
  return bits;
}

Passes passes_of(std::uint32_t bits) noexcept {
  Passes passes;
  for (std::size_t i = 0; i < kSwitches.size(); ++i) {
    passes.*kSwitches[i] = (bits >> i & 1U) != 0;
  }
  return passes;
}

Candidate all_kept(const Program& traced, const CompileOptions& options,
                   const Passes& passes) {
  Candidate out;
  out.program = traced.copy();
  run_passes(out.program, passes);
  bind(out.program, tensor::executor());
  out.arena = arena_of(out.program, options);
  out.calls = out.program.calls.size();
  out.price = out.bound = price_of(out.program, options.costs.get());
  out.program.fitting = {.limit = out.arena,
                         .price = out.price,
                         .pieces = out.program.fitting.pieces,
                         .micro_batches = out.program.fitting.micro_batches,
                         .time_pieces = out.program.fitting.time_pieces};
  out.record.passes = bits_of(passes);
  out.record.pieces = passes.pieces;
  out.record.micro_batches = passes.micro_batches;
  out.record.time_pieces = passes.time_pieces;
  return out;
}

Fitting fitting_of(const Candidate& found, std::int64_t price, Bytes limit) {
  return {.limit = limit,
          .price = price,
          .extra = std::max<std::int64_t>(found.price - price, 0),
          .bound = std::max<std::int64_t>(found.bound - price, 0),
          .again = found.program.fitting.again,
          .pieces = found.program.fitting.pieces,
          .micro_batches = found.program.fitting.micro_batches,
          .time_pieces = found.program.fitting.time_pieces,
          .spilled = found.program.fitting.spilled,
          .stalls = found.program.fitting.stalls,
          .written = found.program.fitting.written,
          .fetched = found.program.fitting.fetched,
          .file = found.program.fitting.file,
          .away = found.program.fitting.away,
          .weights = found.program.fitting.weights,
          .away_bytes = found.program.fitting.away_bytes,
          .weight_bytes = found.program.fitting.weight_bytes};
}

memory::Vector<Passes> candidate_passes(const Passes& passes, const Cuts& cuts,
                                        LeftBeside left) {
  memory::Vector<Passes> out;
  const auto add = [&](bool fuse, bool reorder, std::uint32_t pieces,
                       std::uint32_t micro_batches, std::uint32_t time_pieces) {
    Passes some = passes;
    some.copy_again = false;  // schedules do the same
    some.fuse = fuse && passes.fuse;
    some.reorder = reorder && passes.reorder;
    some.pieces = pieces;
    some.micro_batches = micro_batches;
    some.time_pieces = time_pieces;
    if (std::ranges::find(out, some) == out.end()) {
      out.push_back(some);
    }
  };
  const Passes& own = passes;
  for (const bool fuse : {true, false}) {
    for (const bool reorder : {true, false}) {
      add(fuse, reorder, own.pieces, own.micro_batches, own.time_pieces);
    }
  }
  const auto& pieces = cuts.heads.scheduled;
  if (!pieces.empty()) {
    add(true, false, pieces.front(), own.micro_batches, own.time_pieces);
  }
  for (const std::uint32_t count : pieces) {
    add(true, true, count, own.micro_batches, own.time_pieces);
  }
  for (const std::uint32_t count : cuts.time) {
    add(true, true, pieces.empty() ? own.pieces : pieces.back(),
        own.micro_batches, count);
  }
  if (const MicroBatches* some = cuts.above(left); some != nullptr) {
    add(true, true, own.pieces, some->count, own.time_pieces);
  }
  for (const MicroBatches& some : cuts.micro_batches) {
    if (some.is_searched) {
      add(true, true, own.pieces, some.count, own.time_pieces);
    }
  }
  return out;
}

Ordered::Ordered(const Program& traced, const CompileOptions& options,
                 const Passes& passes,
                 const std::optional<budget::Channel>& channel,
                 const Away& away)
    : options_(options),
      passes_(passes),
      channel_(channel),
      away_(away),
      program_(traced.copy()) {
  run_order_passes(program_, passes_);
  const auto bound = bind(program_, tensor::executor());
  memory::Vector<std::int64_t> prices =
      prices_of(program_, options.costs.get());
  std::optional<budget::Channel> rest = channel;
  if (away.percent != 0) {
    state_stalls_ =
        keep_away(program_, bound, away, *channel, options.spill, prices);
    traffic_ = away_traffic(program_);
    rest->most_written -= std::min(rest->most_written, traffic_.written);
  }
  price_ = std::accumulate(prices.begin(), prices.end(), std::int64_t{0});
  problem_ = scheduling_problem(program_, prices, rest, options.spill.least);
  if (!options.recompute) {
    for (budget::Call& call : problem_.calls) {
      call.again_until = budget::kNever;
    }
  }
}

budget::LadderOptions Ordered::effort() const {
  const auto count = static_cast<std::int64_t>(program_.calls.size());
  budget::LadderOptions out{
      .search = {.walks = std::clamp(kEffort / std::max<std::int64_t>(count, 1),
                                     kLeastWalks, kMostWalks)},
      .step = rung_step(count)};
  if (count > kLongProgram && !channel_) {
    out.search.walks = count <= kVeryLongProgram
                           ? kWalksOfLongProgram
                           : std::clamp(kLittleEffort / count, kFewWalks,
                                        budget::first_walks(problem_));
  }
  if (passes_.micro_batches > 1) {  // long programs, whose gradients stay
    out.step = kStepOfMicroBatches;
    out.search.walks = budget::first_walks(problem_);
    out.least = budget::full_memory(problem_) / kLeastShareOfMicroBatches;
  }
  return out;
}

std::optional<Candidate> Ordered::best(Bytes limit) const {
  budget::LadderOptions options = effort();
  options.most = most_target(limit);
  const auto rungs = budget::ladder(problem_, options);
  for (auto rung = rungs.rbegin(); rung != rungs.rend(); ++rung) {
    if (!may_fit(*rung, limit)) {
      continue;
    }
    Candidate found = packed(*rung);
    if (found.arena <= limit) {
      found.bound = bound(*rung);
      return found;
    }
  }
  return std::nullopt;
}

Bytes Ordered::least() const {
  budget::LadderOptions options = effort();
  options.lowest_only = true;
  const auto rungs = budget::ladder(problem_, options);
  return rungs.empty() ? kUnlimited
                       : std::max(packed(rungs.front()).arena,
                                  least_limit(rungs.front().target));
}

Widest Ordered::widest() const {
  Program program = program_.copy();
  run_memory_passes(program, passes_);
  bind(program, tensor::executor());
  const budget::Problem problem =
      scheduling_problem(program, prices_of(program));
  Widest out;
  for (std::size_t i = 0; i < problem.calls.size(); ++i) {
    const budget::Call& call = problem.calls[i];
    Bytes bytes = call.scratch;
    for (const auto* list : {&call.reads, &call.makes}) {
      for (const std::int32_t v : *list) {
        bytes += problem.values[static_cast<std::size_t>(v)].size;
      }
    }
    if (bytes > out.bytes) {
      out = {place_of(program, program.calls[i]), bytes};
    }
  }
  return out;
}

void Ordered::for_each_within(
    Bytes limit, base::FunctionRef<void(const Candidate&)> look) const {
  budget::LadderOptions options = effort();
  options.most = most_target(limit);
  const auto rungs = budget::ladder(problem_, options);
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    if (!may_fit(rungs[i], limit)) {
      continue;
    }
    Candidate found = packed(rungs[i]);
    if (found.arena <= limit && may_fit(rungs[i], found.arena) &&
        rungs[i].target <= most_target(found.arena)) {
      found.bound = bound(rungs[i]);
      look(found);
    }
  }
}

std::int64_t Ordered::least_price(Bytes limit) const {
  const budget::Bound bound = budget::lower_bound(problem_, most_peak(limit));
  return bound.is_impossible ? std::numeric_limits<std::int64_t>::max()
                             : price_ + bound.price;
}

std::uint64_t Ordered::digest() const {
  NumberHash hash;
  for (const budget::Call& call : problem_.calls) {
    hash.add(call.reads);
    hash.add(call.makes);
    hash.add(static_cast<std::int64_t>(call.take_overs.size()));
    for (const budget::TakeOver& pair : call.take_overs) {
      hash.add(pair.made).add(pair.read);
    }
    hash.add(call.price).add(call.scratch).add(call.again_until);
  }
  for (const budget::Value& value : problem_.values) {
    hash.add(value.size).add(value.outlives ? 1 : 0).add(value.may_spill);
  }
  return hash.get();
}

std::int64_t Ordered::bound(const budget::Rung& rung) const {
  return price_ + budget::lower_bound(problem_, rung.target).price;
}

Candidate Ordered::packed(const budget::Rung& rung) const {
  Candidate out = scheduled(rung.found.schedule);
  out.price = price_ + rung.found.price;
  out.arena = arena_of(out.program, options_);
  return out;
}

Candidate Ordered::scheduled(const budget::Schedule& schedule) const {
  const budget::Evaluation checked = budget::evaluate(problem_, schedule);
  if (!checked.is_good()) {
    base::raise<InternalError>("compile: a schedule is wrong, {} at run {}",
                               budget::name_of(checked.fault), checked.run);
  }
  Candidate out;
  out.program = program_.copy();
  out.calls = program_.calls.size();
  materialise(out.program, schedule);
  run_memory_passes(out.program, passes_);
  verify(out.program, "after materialise");
  bind(out.program, tensor::executor());
  out.price = price_ + checked.price;
  const auto count = [&](budget::Action action) {
    return static_cast<std::uint32_t>(
        std::ranges::count(schedule.runs, action, &budget::Run::action));
  };
  Fitting& how = out.program.fitting;
  how.again = count(budget::Action::kRun) -
              static_cast<std::uint32_t>(problem_.calls.size());
  how.spilled = count(budget::Action::kWrite);
  for (const AwayState& one : program_.away) {
    if (one.is_counted) {
      (one.is_weight ? how.weights : how.away) += one.offset == 0 ? 1 : 0;
      how.weight_bytes += one.is_weight ? one.size : 0;
    }
  }
  how.away_bytes = away_bytes();
  how.stalls = checked.stalls + state_stalls_;
  how.written = checked.written + traffic_.written;
  how.fetched = checked.fetched + traffic_.fetched;
  how.file = out.program.file_bytes() + how.away_bytes;
  out.record = {.problem = digest(),
                .passes = bits_of(passes_),
                .pieces = passes_.pieces,
                .micro_batches = passes_.micro_batches,
                .time_pieces = passes_.time_pieces,
                .away = away_,
                .channel = channel_,
                .schedule = schedule};
  return out;
}

}  // namespace neap::compiler
