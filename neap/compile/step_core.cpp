// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/step_core.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/compile/channel.hpp"
#include "neap/compile/joined.hpp"
#include "neap/compile/watcher.hpp"
#include "neap/program/ranks.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

using base::raise;

// The call is a part of what goes on: of a step that is traced, of jvp, of a
// rematerialised segment. The step then is the plain function.
bool is_part() {
  const tensor::Execution& execution = tensor::thread_execution();
  return execution.trace != nullptr || execution.recorder != nullptr;
}

// The step would see what it assigns, where its program has the value of
// before.
void check_handles(const Program& program,
                   std::span<const Argument> arguments) {
  for (const ReboundHandle& state : program.rebound_handles) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].tensor == state.handle) {
        raise<ValueError>(
            "compile: argument {} is the handle itself that the step assigns "
            "to; give a copy of the handle",
            i);
      }
    }
  }
}

}  // namespace

// Only one call at a time.
class StepCore::Taken {
 public:
  explicit Taken(StepCore& step) : step_(step) {
    if (step.is_busy_.exchange(true, std::memory_order_acquire)) {
      raise<ValueError>(
          "compile: the step is still running, in another thread or because it "
          "calls itself; it runs one call at a time");
    }
  }
  ~Taken() { step_.is_busy_.store(false, std::memory_order_release); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  StepCore& step_;
};

// A call, within the step's budget; what it held of the caller's goes at its
// end.
class StepCore::Turn {
 public:
  explicit Turn(StepCore& step) : taken_(step), step_(step) {
    step_.send_states_back();  // they may be more than the budget
    if (step_.options_.budget != kUnlimited) {
      const base::HearOutside unheard(nullptr);
      budget_.emplace(step_.options_.budget);
    }
  }
  ~Turn() { step_.arguments_.clear(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Taken taken_;
  StepCore& step_;
  std::optional<Budget> budget_;
};

// Discards the programs and arenas made from here on, unless it succeeds.
class StepCore::Attempt {
 public:
  explicit Attempt(StepCore& step) noexcept
      : step_(step), arena_(step.arenas_.bytes()) {}
  ~Attempt() {
    if (!has_succeeded_) {
      step_.take_back(arena_);
    }
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void succeed() noexcept {
    for (Entry& entry : step_.entries_) {
      entry.is_new = false;
    }
    has_succeeded_ = true;
  }

 private:
  StepCore& step_;
  Bytes arena_;
  bool has_succeeded_ = false;
};

// Tells the watcher of a call, if there is one when it begins.
class StepCore::Watch {
 public:
  Watch() noexcept : watcher_(step_watcher()) {
    if (watcher_ != nullptr) {
      watcher_->begin();
      begin_ = Clock::now();
    }
  }
  ~Watch() {
    if (watcher_ != nullptr) {
      watcher_->end();
    }
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void planned(const Entry& entry) const noexcept {
    if (watcher_ != nullptr) {
      watcher_->planned(entry.executor->program(), entry.executor->plan());
    }
  }
  void ran(Entry& entry) const noexcept {
    if (watcher_ == nullptr) {
      return;
    }
    const std::chrono::nanoseconds taken = Clock::now() - begin_;
    if (!std::exchange(entry.is_watched, true)) {
      planned(entry);
    }
    watcher_->ran(entry.executor->program(), taken.count());
  }

 private:
  using Clock = std::chrono::steady_clock;

  StepWatcher* watcher_;
  Clock::time_point begin_{};
};

StepCore::StepCore(const CompileOptions& options, const CallSite& site)
    : options_(options),
      site_(base::intern(site)),
      arenas_(memory::domain(), options.memory, options.paged) {
  if (options.programs < 1 || options.max_batch < 0 || options.verify < 0) {
    raise<ValueError>(
        "compile: .programs is {}, .max_batch {} and .verify {}; they must be "
        "at least 1, 0 and 0",
        options.programs, options.max_batch, options.verify);
  }
  if (options.shards < 1) {
    raise<ValueError>("compile: .shards is {}; it must be at least 1",
                      options.shards);
  }
  check_ranks(options);
  if (options.arena_limit < 0 || options.budget < 0) {
    raise<ValueError>(
        "compile: .arena_limit is {} bytes and .budget {}; neither may be "
        "negative",
        options.arena_limit, options.budget);
  }
  StateFile::check_part(options.spill.part);
  if (options.paged && !options.memory.empty()) {
    raise<ValueError>(
        "compile: .paged and .memory exclude each other, since pages are "
        "memory of the step's own; leave one out");
  }
  if (!options.warm.empty() && options.max_batch == 0) {
    raise<ValueError>("compile: .warm lists batches, which needs .max_batch");
  }
  for (const std::int64_t size : options.warm) {
    if (size < 0) {
      raise<ValueError>(
          "compile: .warm lists a batch of {}; a batch is at least 1", size);
    }
  }
  entries_.reserve(static_cast<std::size_t>(options.programs) + 1);
  if (has_other_ranks(options)) {
    number_ = options.ranks->number_of_step();
  }
  if (!options.plan.file.empty()) {
    plans_ = memory::make_owned<PlanBook>(memory::Category::kGraph, options_);
  }
}

StepCore::~StepCore() {
  let_go();
}

const Executor& StepCore::latest() const {
  if (entries_.empty()) {
    raise<ValueError>(
        "compile: nothing was traced yet; call the step, or prepare() it");
  }
  return *entries_.front().executor;
}

Prediction StepCore::prediction() const {
  return predict(program(), plan());
}

Measured StepCore::measured() const {
  const memory::Stats stats = memory::domain().stats();
  return {.persistent = latest().persistent_bytes(),
          .arena = arenas_.bytes(),
          .peak = stats.live_peak,
          .held_peak = stats.peak,
          .external = stats.external,
          .seconds = plan().seconds()};
}

void StepCore::reset() {
  const Taken taken(*this);  // what comes home is the caller's, as ever
  if (states_ != nullptr) {
    states_->give_back();
  }
  let_go();
}

void StepCore::let_go() noexcept {
  last_ = nullptr;
  ready_ = nullptr;
  if (states_ != nullptr) {
    states_->leave_arena();
  }
  entries_.clear();
  spill_.reset();
  states_.reset();  // what is there keeps the file
  if (options_.ranks != nullptr && options_.ranks->is_broken()) {
    arenas_.leave();
  }
  arenas_.let_go();
  arguments_.clear();
  arguments_.shrink_to_fit();
  specs_.clear();
  specs_.shrink_to_fit();
  is_number_.clear();
  is_number_.shrink_to_fit();
  numbers_.clear();
  numbers_.shrink_to_fit();
  results_.clear();
  results_.shrink_to_fit();
}

// `arena`: bytes before. A larger one goes as a whole, for the next call to
// make: it cannot shrink.
void StepCore::take_back(Bytes arena) noexcept {
  if (plans_) {
    plans_->discard();
  }
  std::erase_if(entries_, [&](Entry& entry) {
    if (entry.is_new && entry.executor) {
      forget(*entry.executor);
    }
    return entry.is_new;
  });
  if (entries_.empty()) {
    let_go();
  } else if (arenas_.bytes() > arena) {
    arenas_.let_go();
  }
}

void StepCore::call(Step step, std::span<const Argument> arguments,
                    base::FunctionRef<void(std::size_t)> expect,
                    base::FunctionRef<void(std::span<Tensor>)> take) {
  const Turn turn(*this);
  const Watch watch;
  if (is_part()) {
    if (has_other_ranks(options_)) {
      raise<TraceError>(
          "compile: a step of several ranks is called in a step that is "
          "traced, in jvp or in a rematerialised segment; call the plain "
          "function there, and give .ranks to the outer step");
    }
    call_as_part(step, arguments, expect, take);
    return;
  }
  Attempt attempt(*this);
  Joined joined(options_, "call");
  results_.clear();
  take_arguments(arguments);
  rows_of_all_ = joined.rows_of_all(specs_);
  Entry& entry = find_or_free(step);
  if (options_.verify > 0 && entry.calls++ % options_.verify == 0 &&
      !entry.is_new) {
    verify(step, entry);
  }
  check_handles(entry.executor->program(), arguments);
  const auto trace = [&] { return traced(step, specs_); };
  within_budget(entry, trace, [&] {
    fit(entry);
    use(*entry.executor);
    results_.resize(entry.executor->results().count());
    expect(entry.executor->handed());
    entry.executor->prepare(arenas_, arguments_, site_);
  });
  expect_equal(joined, *entry.executor);
  write_plans();
  attempt.succeed();
  Executor& executor = *entry.executor;
  if (last_ != nullptr && last_ != &executor) {
    last_->results().revoke(site_);
  }
  last_ = &executor;
  const bool is_profiled =
      profiler_.load() == std::this_thread::get_id() &&
      profile_->accepts(executor.number(), executor.program());
  executor.set_profile(is_profiled ? profile_ : nullptr);
  executor.run(arguments_, results_);
  take(std::span(results_).first(executor.handed()));
  watch.ran(entry);
}

void StepCore::set_profile(Profile* profile) {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id owner;
  if (!profiler_.compare_exchange_strong(owner, self) && owner != self) {
    if (profile == nullptr) {
      return;
    }
    base::raise<ValueError>("profile: another thread still profiles the step");
  }
  profile_ = profile;
  if (profile == nullptr) {
    profiler_.store({});
  }
}

void StepCore::prepare(Step step, std::span<const tensor::Spec> arguments) {
  const Turn turn(*this);
  const Watch watch;
  Attempt attempt(*this);
  Joined joined(options_, "prepare()");
  const GivenArguments given{arguments};
  arguments_.reserve(arguments.size());
  is_number_.clear();
  is_number_.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    is_number_.push_back(given.is_number(i) ? 1 : 0);
    if (given.is_number(i)) {
      number(i, 0.0);
    }
  }
  specs_.assign(arguments.begin(), arguments.end());
  rows_of_all_ = joined.rows_of_all(specs_);
  Entry& entry = find_or_free(step);
  const auto trace = [&] { return traced(step, specs_); };
  within_budget(entry, trace, [&] {
    fit(entry);
    use(*entry.executor);
    results_.reserve(entry.executor->results().count());
    for (const Entry& made : entries_) {  // of other sizes of the batch
      if (made.is_new) {
        made.executor->results().reserve_places(arenas_);
      }
    }
    entry.executor->reserve(arenas_);
  });
  expect_equal(joined, *entry.executor);
  write_plans();
  attempt.succeed();
  ready_ = entry.executor.get();
  watch.planned(entry);
}

void StepCore::expect_equal(Joined& joined, Executor& executor) {
  try {
    joined.expect_equal(executor, number_, arguments_);
  } catch (...) {
    executor.abandon();
    throw;
  }
}

// Frees another program's reservation, so that no two programs have one.
void StepCore::use(const Executor& executor) noexcept {
  if (ready_ != nullptr && ready_ != &executor) {
    ready_->abandon();
  }
  ready_ = nullptr;
}

// All programs of the attempt are known to fit.
void StepCore::write_plans() {
  if (plans_) {
    plans_->write();
  }
}

void StepCore::fit(const Entry& entry) {
  send_states_away(*entry.executor);  // which leaves room for the arena
  if (options_.max_batch > 0 && arenas_.bytes() == 0) {
    for (const Entry& each : entries_) {  // others may not make it grow later
      if (each.may_grow) {
        arenas_.fit(each.executor->plan(), false, true);
      }
    }
  }
  const bool is_held = are_results_held();
  const bool may_grow = entry.may_grow || may_outgrow();
  if (arenas_.fit(entry.executor->plan(), is_held, may_grow) && is_held) {
    last_->results().revoke(site_);
  }
  open_spill(*entry.executor);
  expect_room_for_states(entry.executor->program());
}

void StepCore::send_states_away(Executor& executor) {
  if (executor.program().away.empty()) {
    return;
  }
  if (states_ == nullptr) {
    states_ = file_of(executor.program());
  }
  if (states_ == nullptr) {
    states_ = StateFile::create(door_of(options_.spill), options_.spill.folder,
                                arenas_.domain(), options_.spill.part);
  }
  executor.send_away(*states_);
}

// A file in the folder that has some of it already: another step's, or that in
// which the model was made.
std::shared_ptr<StateFile> StepCore::file_of(const Program& program) const {
  for (const AwayState& state : program.away) {
    auto found = StateFile::of(
        *program.externals[state.external].tensor.array()->storage());
    if (found != nullptr &&
        found->is_in(door_of(options_.spill), options_.spill.folder,
                     arenas_.domain(), options_.spill.part)) {
      return found;
    }
  }
  return nullptr;
}

// Moves to the file the states that were read back since the last call, and
// those that it could not write, before the arena is used.
void StepCore::send_states_back() {
  if (states_ == nullptr || is_part()) {
    return;
  }
  states_->write_again();
  if (!entries_.empty()) {
    send_states_away(*entries_.front().executor);
  }
}

// The file and its thread, before a run needs them. A dry run moves nothing.
void StepCore::open_spill(Executor& executor) {
  const Program& program = executor.program();
  if (program.slots.empty()) {
    return;
  }
  const bool may_be_direct = moves_whole_pages();
  if (!spill_ || (spill_->is_direct() && !may_be_direct)) {
    spill_.reset();
    spill_ = memory::make_owned<SpillQueue>(
        memory::Category::kGraph, door_of(options_.spill),
        options_.spill.folder, arenas_.domain(),
        SpillQueue::Options{.may_be_direct = may_be_direct});
    for (Entry& entry : entries_) {
      entry.executor->set_spill(nullptr);
    }
  }
  spill_->reserve(arenas_.domain().is_rehearsal() ? 0 : program.file_bytes(),
                  program.slots.size());
  executor.set_spill(spill_.get());
}

// Whether what is moved lies on pages of the system, and nothing beside it.
bool StepCore::moves_whole_pages() const noexcept {
  const auto base =
      reinterpret_cast<std::uintptr_t>(arenas_.base(memory::kHost));
  return base % kSpillUnit == 0 && !options_.paged && !options_.debug.guards;
}

}  // namespace neap::compiler
