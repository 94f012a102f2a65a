// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StepCore: what is inside a CompiledStep: a bounded set of programs over one
// arena.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "neap/compile/compiled_step.hpp"
#include "neap/compile/executor.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/compile/plan_book.hpp"
#include "neap/compile/spill_queue.hpp"
#include "neap/compile/state_file.hpp"
#include "neap/memory/budget.hpp"
#include "neap/memory/out_of_memory.hpp"

namespace neap::compiler {

class Joined;

/// The contracts are those of CompiledStep.
class StepCore {
 public:
  StepCore(const CompileOptions& options, const CallSite& site);
  ~StepCore();
  StepCore(const StepCore&) = delete;
  StepCore& operator=(const StepCore&) = delete;

  void call(Step step, std::span<const Argument> arguments,
            base::FunctionRef<void(std::size_t)> expect,
            base::FunctionRef<void(std::span<Tensor>)> take);
  void prepare(Step step, std::span<const tensor::Spec> arguments);

  const Program& program() const { return latest().program(); }
  const Plan& plan() const { return latest().plan(); }
  Prediction prediction() const;
  Measured measured() const;
  int programs() const noexcept { return static_cast<int>(entries_.size()); }
  std::int64_t traces() const noexcept { return traces_; }
  Bytes arena_bytes() const noexcept { return arenas_.bytes(); }
  const std::string& why() const noexcept { return why_; }
  void reset();
  /// Sets where the times of this thread's calls to come go; nullptr: nowhere.
  /// THROWS: ValueError while another thread's calls go into a profile.
  void set_profile(Profile* profile);

 private:
  struct Entry {
    memory::Owned<Executor> executor;
    bool may_grow = false;    // the arena is made to fit it
    bool is_new = true;       // its call has not got to a run yet
    bool is_watched = false;  // the watcher knows that it has run
    std::int64_t calls = 0;
    /// The traced program, until it is known to fit into the budget.
    memory::Owned<Program> traced{};
  };
  // The attempts where a program does not fit, one after the other.
  enum class Resort : std::uint8_t {
    kAsItIs,
    kOwnArena,  // not that of a larger program
    kNewTrace,  // and a plan for what the budget leaves now
    kAlone,     // without the other programs
  };
  class Taken;
  class Turn;
  class Attempt;
  const Executor& latest() const;
  void call_as_part(Step step, std::span<const Argument> arguments,
                    base::FunctionRef<void(std::size_t)> expect,
                    base::FunctionRef<void(std::span<Tensor>)> take);
  void take_arguments(std::span<const Argument> arguments);
  GivenArguments given(std::span<const tensor::Spec> specs) const;
  Tensor number(std::size_t i, double value);
  static Tensor part_number(double value, std::span<const Argument> arguments);
  void expect_equal(Joined& joined, Executor& executor);
  void use(const Executor& executor) noexcept;
  Entry& find(Step step);
  Entry& find_or_free(Step step);
  Program traced(Step step, std::span<const tensor::Spec> specs);
  Entry* find_traced(std::span<const tensor::Spec> specs) noexcept;
  Entry& add(Step step, std::span<const tensor::Spec> specs, bool may_grow);
  void add_sizes(Step step, std::span<const tensor::Spec> specs);
  void add_ahead(Step step, std::span<const tensor::Spec> specs,
                 std::int64_t batch);
  void verify(Step step, Entry& entry);
  void explain(std::span<const tensor::Spec> specs);
  memory::Owned<Executor> make(Program program, const Passes& passes,
                               const ArenaLimit& limit);
  ArenaLimit limit_of_next() const;
  memory::Owned<Executor> make_fitting(const Program& traced);
  bool may_outgrow() const noexcept;
  void forget(Executor& executor) noexcept;
  void drop_stale();
  void take_back(Bytes arena) noexcept;
  void let_go() noexcept;
  void write_plans();
  class Watch;
  void fit(const Entry& entry);
  void open_spill(Executor& executor);
  void send_states_away(Executor& executor);
  void send_states_back();
  std::shared_ptr<StateFile> file_of(const Program& program) const;
  bool may_send_away(const Entry& entry) const;
  void expect_room_for_states(const Program& program) const;
  bool moves_whole_pages() const noexcept;
  void fit_ahead(Entry& entry);
  void within_budget(Entry& entry, base::FunctionRef<Program()> trace,
                     base::FunctionRef<void()> place);
  void lower_until_placed(Entry& entry, base::FunctionRef<void()> place);
  bool may_trace_anew(const Entry& entry) const noexcept;
  bool take(Resort resort, Entry& entry, base::FunctionRef<Program()> trace);
  void drop(Entry& entry) noexcept;
  bool are_results_held() const noexcept;
  bool free_arena_beyond(const Entry& entry) noexcept;
  bool free_others(const Entry* kept) noexcept;
  Bytes arena_beside(const Entry& entry) const noexcept;
  Bytes left_within(Bytes budget) const;

  Bytes spare_ = 0;         // of the latest limit (Fitted); below 0: no plan
  CompileOptions options_;  // with the rates of the spill file, once known
  base::SiteId site_;
  Arenas arenas_;
  memory::Owned<PlanBook> plans_;  // where options name a plan file
  // Before the programs that use them.
  memory::Owned<SpillQueue> spill_;
  std::shared_ptr<StateFile> states_;
  memory::Vector<Entry> entries_;  // the latest used first
  Executor* last_ = nullptr;       // whose results may be held
  Executor* ready_ = nullptr;      // has asked ahead for its first run
  std::int64_t traces_ = 0;
  std::int64_t rows_of_all_ = 0;  // of the running call, where ranks share it
  std::uint64_t number_ = 0;      // of this step, likewise
  std::string why_;
  std::atomic<std::thread::id> profiler_{};  // whose calls are profiled
  Profile* profile_ = nullptr;               // the profiler's alone
  std::atomic<bool> is_busy_{false};
  // Parts of the running call, or waiting for the next.
  memory::Vector<Tensor> arguments_;
  memory::Vector<tensor::Spec> specs_;
  memory::Vector<std::uint8_t> is_number_;  // of each
  memory::Vector<Tensor> numbers_;          // by position
  memory::Vector<Tensor> results_;
};

}  // namespace neap::compiler
