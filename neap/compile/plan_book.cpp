// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/plan_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/base/shown.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/compile/channel.hpp"
#include "neap/compile/costs.hpp"
#include "neap/compile/orders.hpp"
#include "neap/compile/plan_facts.hpp"
#include "neap/files/door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/digest.hpp"
#include "neap/program/passes.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

// A step has at most CompileOptions::programs at a time; a file may have those
// of shapes that came later.
constexpr std::size_t kMostPlans = 1024;
// No search cuts a head or a batch into more (head_pieces.cpp, cuts.cpp).
constexpr std::uint32_t kMostPieces = 64;

files::Door& door_of(const PlanOptions& plan) {
  return plan.door != nullptr ? *plan.door : files::system_door();
}

template <class... Args>
[[noreturn]] void refuse(const PlanOptions& plan,
                         fmt::format_string<Args...> fact, Args&&... args) {
  base::raise<PlanFileError>("compile: .plan {}: {}; delete or rename it",
                             base::shown_path(plan.file),
                             fmt::format(fact, std::forward<Args>(args)...));
}

template <class T>
T value_of(const PlanOptions& plan, tl::expected<T, Failure>&& result) {
  if (!result) {
    refuse(plan, "{}", result.error().message);
  }
  return std::move(*result);
}

template <class T>
T io_value_of(tl::expected<T, Failure>&& result) {
  if (!result) {
    base::raise<IoError>("compile: .plan: {}", result.error().message);
  }
  return std::move(*result);
}

void check_done(const neap::Result<void>& done) {
  if (!done) {
    base::raise<IoError>("compile: .plan: {}", done.error().message);
  }
}

// Empty where there is no file.
memory::Vector<std::byte> content_of(const PlanOptions& plan) {
  files::Door& door = door_of(plan);
  memory::Vector<std::byte> content;
  if (io_value_of(door.inspect(plan.file)).kind == files::PathKind::kNothing) {
    return content;
  }
  files::File file = io_value_of(door.open_read(plan.file));
  const Bytes size = io_value_of(file.size());
  if (size == 0) {
    refuse(plan, "it is empty");
  }
  if (size > kMostPlanFileBytes) {
    refuse(plan, "it is larger than any plan file");
  }
  content.resize(static_cast<std::size_t>(size));
  check_done(files::read_exact(file, content));
  return content;
}

std::int64_t price_once_bound(Program&& program, CostBook* costs) {
  bind(program, tensor::executor());
  return price_of(program, costs);
}

}  // namespace

std::optional<PlanFileLimits> limits_of(const PlanOptions& plan) {
  const auto content = content_of(plan);
  if (content.empty()) {
    return std::nullopt;
  }
  const PlanTable table = value_of(plan, parse_plan_file(content));
  const auto at = [&](PlanFact fact) {
    return table.facts[static_cast<std::size_t>(fact)];
  };
  return PlanFileLimits{.arena_limit = at(PlanFact::kArenaLimit),
                        .budget = at(PlanFact::kBudget),
                        .write_rate = at(PlanFact::kWriteRate),
                        .fetch_rate = at(PlanFact::kFetchRate)};
}

PlanBook::PlanBook(const CompileOptions& options)
    : options_(options), facts_(facts_of(options)) {
  if (options.planner.seconds > 0) {
    base::raise<ValueError>(
        "compile: .plan with .planner.seconds: a search that time ends gives "
        "another arena at each start; use .planner.work");
  }
}

// The file as it is now, its plans those of these options. Empty: no file.
PlanBook::Content PlanBook::read() const {
  Content content = content_of(options_.plan);
  if (!content.empty()) {
    const PlanTable table = value_of(options_.plan, parse_plan_file(content));
    if (const auto other = difference(table.facts, facts_); !other.empty()) {
      refuse(options_.plan, "{}", other);
    }
  }
  return content;
}

std::optional<PlanRecord> PlanBook::known(const Content& content) const {
  if (content.empty()) {
    return std::nullopt;
  }
  const PlanTable table = value_of(options_.plan, parse_plan_file(content));
  const PlanEntry* entry = table.find(program_);
  if (entry == nullptr) {
    if (!is_ours_next_) {
      refuse(options_.plan, "no plan of this step and shapes");
    }
    return std::nullopt;
  }
  return value_of(options_.plan, parse_plan_record(entry->record));
}

// With the rates that the plans before it counted on.
SpillOptions PlanBook::rates_of(const Content& content) const {
  SpillOptions spill = options_.spill;
  if (content.empty()) {
    return spill;
  }
  const PlanTable table = value_of(options_.plan, parse_plan_file(content));
  for (const PlanEntry& entry : table.entries) {
    const PlanRecord record =
        value_of(options_.plan, parse_plan_record(entry.record));
    if (record.channel) {
      spill.write_rate = record.channel->write_rate;
      spill.fetch_rate = record.channel->read_rate;
      break;
    }
  }
  return spill;
}

Program PlanBook::planned(const Program& traced, const ArenaLimit& limit) {
  facts_[static_cast<std::size_t>(PlanFact::kThreads)] =
      tensor::executor().threads();
  program_ = structure_digest(traced);
  const Content content = read();
  auto record = known(content);
  is_ours_next_ = true;
  is_known_ = record.has_value();
  if (is_known_) {
    record_ = std::move(*record);
    Program program = remade(traced);
    left_ = limit.beside_calls(calls_, program.away_bytes());
    spare_ = left_ - record_.arena;
    return program;
  }
  CompileOptions options = options_;
  options.spill = rates_of(next_.empty() ? content : next_);
  if (limit.bytes != kUnlimited) {
    Fitted found = fitted(traced, options, limit);
    record_ = std::move(found.record);
    spare_ = found.spare;
    return std::move(found.program);
  }
  record_ = {.passes = bits_of(options.passes),
             .pieces = options.passes.pieces,
             .micro_batches = options.passes.micro_batches,
             .time_pieces = options.passes.time_pieces};
  Program program = traced.copy();
  run_passes(program, options.passes);
  return program;
}

// The program that the file describes, without its arena.
Program PlanBook::remade(const Program& traced) {
  const auto is_known = [](std::uint32_t cut, std::uint32_t given) {
    return cut == given || cut <= kMostPieces;
  };
  if (record_.passes >> kPassBits != 0 ||
      !is_known(record_.pieces, options_.passes.pieces) ||
      !is_known(record_.micro_batches, options_.passes.micro_batches) ||
      !is_known(record_.time_pieces, options_.passes.time_pieces)) {
    refuse(options_.plan, "a plan is of an unknown kind");
  }
  Passes passes = passes_of(record_.passes);
  passes.pieces = record_.pieces;
  passes.micro_batches = record_.micro_batches;
  passes.time_pieces = record_.time_pieces;
  if (record_.schedule) {
    return scheduled(traced, passes);
  }
  Program program = traced.copy();
  run_passes(program, passes);
  calls_ = program.calls.size();
  if (record_.limit != kUnlimited) {
    const std::int64_t price = price_of_whole(traced);
    program.fitting = {
        .limit = record_.limit,
        .price = price,
        .extra = std::max<std::int64_t>(
            price_once_bound(program.copy(), options_.costs.get()) - price, 0),
        .bound = record_.bound,
        .pieces = program.fitting.pieces,
        .micro_batches = program.fitting.micro_batches,
        .time_pieces = program.fitting.time_pieces};
    check_price(program.fitting);
  }
  return program;
}

// With all values kept.
std::int64_t PlanBook::price_of_whole(const Program& traced) const {
  Program whole = traced.copy();
  run_passes(whole, options_.passes);
  return price_once_bound(std::move(whole), options_.costs.get());
}

void PlanBook::check_price(const Fitting& fitting) const {
  if (fitting.price != record_.price || fitting.extra != record_.extra ||
      fitting.bound > fitting.extra) {
    refuse(options_.plan, "a plan's price differs from the one that it states");
  }
}

// The channel of the options, at the rates that the plan counted on.
bool PlanBook::is_channel_ours() const {
  SpillOptions spill = options_.spill;
  if (!record_.channel) {  // it uses none
    return record_.away.percent == 0;
  }
  if (spill.folder.empty()) {
    return false;
  }
  const budget::Channel& there = *record_.channel;
  const auto is_rate = [](std::int64_t rate, std::int64_t asked) {
    return rate > 0 && rate <= budget::Channel::kMostRate &&
           (asked <= 0 || rate == asked);
  };
  if (!is_rate(there.write_rate, spill.write_rate) ||
      !is_rate(there.read_rate, spill.fetch_rate)) {
    return false;
  }
  spill.write_rate = there.write_rate;
  spill.fetch_rate = there.read_rate;
  return channel_of(spill, record_.price) == there;
}

Program PlanBook::scheduled(const Program& traced, const Passes& passes) {
  if (!is_channel_ours()) {
    refuse(options_.plan, "a plan assumes another spill file");
  }
  if (record_.away.percent != 0 &&
      std::ranges::find(kAwayChoices, record_.away) == kAwayChoices.end()) {
    refuse(options_.plan, "a plan keeps an unknown part away");
  }
  const Ordered ordered(traced, options_, passes, record_.channel,
                        record_.away);
  if (ordered.digest() != record_.problem) {
    refuse(options_.plan, "the step's calls have other prices or sizes");
  }
  Candidate found;
  try {
    const budget::Evaluation checked =
        budget::evaluate(ordered.problem(), *record_.schedule);
    if (!checked.is_good()) {
      refuse(options_.plan, "a schedule is invalid at run {1}: {0}",
             budget::name_of(checked.fault), checked.run);
    }
    found = ordered.scheduled(*record_.schedule);
  } catch (const ValueError&) {  // at such rates, times are beyond all counting
    refuse(options_.plan, "a plan assumes another spill file");
  } catch (const InternalError& error) {  // verify() has the last word
    refuse(options_.plan, "a schedule gives no valid program: {}",
           error.what());
  }
  Fitting fitting = fitting_of(found, price_of_whole(traced), record_.limit);
  fitting.bound = record_.bound;
  check_price(fitting);
  found.program.fitting = fitting;
  calls_ = found.calls;
  return std::move(found.program);
}

void PlanBook::note_arena(Bytes arena) {
  if (!is_known_) {
    record_.arena = arena;
    add(next_.empty() ? read() : next_);
    record_ = {};
    return;
  }
  if (arena != record_.arena || arena > record_.limit) {
    refuse(options_.plan, "a plan's arena is {}, and it states {}",
           format_bytes_short(arena), format_bytes_short(record_.arena));
  }
  if (arena > left_) {
    refuse(options_.plan, "a plan's arena is {}, and {} are left",
           format_bytes(arena), format_bytes(std::max<Bytes>(left_, 0)));
  }
  record_ = {};
}

void PlanBook::add(const Content& before) {
  const Content record = plan_record_bytes(record_);
  PlanTable table;
  if (!before.empty()) {
    table = value_of(options_.plan, parse_plan_file(before));
  }
  std::erase_if(table.entries, [&](const PlanEntry& entry) {
    return entry.program == program_;
  });
  const auto at = std::ranges::lower_bound(table.entries, program_, {},
                                           &PlanEntry::program);
  table.entries.insert(at, {program_, record});
  Content next = plan_file_bytes(facts_, table.entries);
  if (table.entries.size() > kMostPlans ||
      static_cast<Bytes>(next.size()) > kMostPlanFileBytes) {
    refuse(options_.plan, "it has no room for another plan");
  }
  next_ = std::move(next);
}

void PlanBook::write() {
  if (!next_.empty()) {
    check_done(files::write_atomically(
        door_of(options_.plan), options_.plan.file,
        [&](files::File& file) { return files::write_all(file, next_); }));
  }
  next_ = {};
  is_ours_ = is_ours_next_;
}

void PlanBook::discard() noexcept {
  next_ = {};
  record_ = {};
  is_ours_next_ = is_ours_;
}

}  // namespace neap::compiler
