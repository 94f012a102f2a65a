// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Executor: one program with all that a run of it needs. A run is
//
//   prepare   all that can fail: arguments and externals are looked at, memory
//             for what is left behind is found, listeners are asked, checks of
//             what is there are made
//   run       one kernel after the other, at fixed addresses
//
// and leaves everything as it was if it throws, but for a check of computed
// values after a write: then it is a TornStep. Not thread-safe.
#pragma once

#include <optional>

#include "neap/compile/debug_run.hpp"
#include "neap/compile/guards.hpp"
#include "neap/compile/profile.hpp"
#include "neap/compile/results.hpp"

namespace neap::compiler {

class StateFile;

class NEAP_API Executor {
 public:
  /// Binds and plans the program for the current thread's executor; `lent`:
  /// Plan::lent. THROWS: as bind() and plan(); OutOfMemory.
  Executor(Program program, const Debug& debug,
           const planner::SolveOptions& options, bool is_paged = false,
           Bytes lent = 0);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Why the program is not what a trace would give here and now, if it is not.
  BrokenGuard broken(const GivenArguments& given) const;
  bool holds_for(const GivenArguments& given) const { return !broken(given); }
  std::string describe(const BrokenGuard& guard,
                       const GivenArguments& given) const {
    return guards_.describe(guard, given);
  }

  /// Sets the queue that moves values. LIFETIME: beyond the runs.
  void set_spill(SpillQueue* spill) noexcept { instructions_.set_spill(spill); }
  /// Its own among all executors of the process, from 1 on.
  std::uint64_t number() const noexcept { return number_; }
  /// Sets where the time of each call goes; nullptr: nowhere. LIFETIME: beyond
  /// the runs.
  void set_profile(Profile* profile) noexcept { profile_ = profile; }
  /// Sets the file of the states and weights that its program keeps away, and
  /// moves them there.
  /// LIFETIME: beyond the runs. THROWS: as StateFile::take(), and each state is
  /// where it was, or there.
  void send_away(StateFile& file);
  /// Asks ahead for what the first run will need. THROWS: OutOfMemory.
  void reserve(const Arenas& arenas);
  /// False: a tensor that the step captured was tied, or assigned over, and
  /// the program will never hold again.
  bool is_current() const { return !guards_.broken_for_ever(); }

  /// THROWS: ValueError for an argument or a state that lies where the step
  /// writes, or in the step's own memory; UseAfterRelease where something is
  /// gone; what checks and listeners throw; OutOfMemory. All is then as before.
  void prepare(const Arenas& arenas, std::span<const Tensor> arguments,
               base::SiteId site);
  /// The part of prepare() that looks for states where the step writes.
  /// THROWS: ValueError. REQUIRES: guards hold.
  void check_states_now();
  /// REQUIRES: prepared. `results`: places for results().count() handles; the
  /// caller's come first. THROWS: what a check throws; TornStep.
  void run(std::span<const Tensor> arguments, std::span<Tensor> results);
  /// A digest of the run that was prepared, the same in all ranks: what it does
  /// and exchanges, rates and draws, arguments but for their rows, and, where
  /// they were written since its last run by others, the states that it reads.
  std::uint64_t run_digest(std::uint64_t step,
                           std::span<const Tensor> arguments);
  /// The number of results that are the caller's.
  std::size_t handed() const noexcept { return program_.handed; }
  /// Releases what prepare() made.
  void abandon() noexcept;

  Results& results() noexcept { return results_; }
  const Program& program() const noexcept { return program_; }
  const Plan& plan() const noexcept { return plan_; }
  /// Bytes of storages that are there for this program and outlast a run:
  /// externals, gradients of leaves, kept results.
  Bytes persistent_bytes() const;
  /// Bytes of all bookkeeping: program, plan, instructions.
  Bytes bytes() const noexcept;

 private:
  struct Bound {
    Program program;
    memory::Vector<Binding> bindings;
  };
  Executor(Bound bound, const Debug& debug,
           const planner::SolveOptions& options, bool is_paged, Bytes lent);
  static Bound bound(Program program);
  static std::uint64_t next_number() noexcept;

  struct Draw {
    base::DrawKey* key = nullptr;
    std::uint64_t after = 0;  // so many draws after the first of a run
  };
  struct Listener {
    graph::RunListener* listener = nullptr;
    std::uint32_t index = 0;
    void* attrs = nullptr;
    std::uint32_t size = 0;  // of these
  };
  // The gradient that a leaf has when a run begins, as an external.
  struct Entry {
    const LeafGrad* grad = nullptr;
    std::uint32_t external = 0;
    tensor::Layout layout;
    /// Not nullptr: a handle that the step reads meant the gradient, too, and
    /// keeps this storage. The program holds while the leaf has it.
    const tensor::Storage* shared = nullptr;
  };
  const tensor::Storage* shared_with_handle(const Tensor& grad) const;
  void note_entries();
  void note_calls();
  void note_call(const Call& call);
  void note_elsewhere();
  void note_write(const Operand& operand);
  void find_states();
  void find_places();
  bool are_places_current() const noexcept;
  void find_places_again(int tries);
  bool is_updated(std::size_t spill, std::size_t at) const noexcept;
  void begin_spills(std::size_t at);
  void check_captured(const Arenas& arenas) const;
  void check_states() const;
  void check_written(const Tensor& tensor, std::string_view what,
                     std::uint32_t external) const;
  void set_host_state() const noexcept;
  void set_states(std::span<Tensor> results) const noexcept;
  Tensor gradient(std::size_t i) const noexcept;
  void take_shared(std::span<const Tensor> arguments,
                   std::span<Tensor> results) const noexcept;
  void share_results(std::span<Tensor> results) const noexcept;
  void find_bases(const Arenas& arenas, std::span<const Tensor> arguments);
  void find_own_bases();
  void check_arguments(const Arenas& arenas,
                       std::span<const Tensor> arguments) const;
  void check_pair(std::size_t i, std::span<const Tensor> arguments) const;
  void check_place(std::size_t i, const Tensor& argument) const;
  void write_attrs() const noexcept;
  void run_body(std::size_t& at);
  void stop_moves() noexcept;
  void expect_readable_states();
  void look_after_states(std::size_t at) noexcept;
  void finish() noexcept;
  void renew_places();
  void link_results() noexcept;
  void let_go_of_entries() noexcept;
  void count_writes(std::span<const Tensor> arguments) const noexcept;
  bool is_entry(const Buffer& buffer) const noexcept;
  const Value* first_written(std::size_t at) const noexcept;
  std::string name_of(const Value& value) const;

  Program program_;
  memory::Domain& domain_;
  Plan plan_;
  Guards guards_;
  Instructions instructions_;
  LeafGrads grads_;
  Results results_;
  std::optional<DebugRun> debug_run_;
  memory::Vector<Draw> draws_;
  memory::Vector<Listener> listeners_;
  memory::Vector<Entry> entries_;
  memory::Vector<std::uint32_t> written_externals_;
  memory::Vector<std::uint32_t> written_arguments_;
  std::uint64_t number_ = next_number();
  std::uint64_t exchanges_ = 0;    // none where there are no other ranks
  std::uint64_t states_seen_ = 0;  // state_writes() after the last run
  Profile* profile_ = nullptr;
  StateFile* states_ = nullptr;
  memory::Vector<std::uint32_t> places_;  // there, of each of Program::away
  base::SiteId site_{};
};

}  // namespace neap::compiler
