// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PlanBook: the plan file of one step (CompileOptions::plan). It says how a
// program is made to fit, where the file knows that, and adds what it does not
// know. What is read is never trusted: a schedule is evaluated anew, its
// program verified and packed, and all figures are compared.
#pragma once

#include <optional>

#include "neap/compile/fitting.hpp"
#include "neap/compile/options.hpp"
#include "neap/compile/plan_file_error.hpp"

namespace neap::compiler {

/// The facts of a plan file that a run needs before it has a step.
struct PlanFileLimits {
  Bytes arena_limit = kUnlimited;  // CompileOptions::arena_limit
  Bytes budget = kUnlimited;       // CompileOptions::budget
  std::int64_t write_rate = 0;     // SpillOptions
  std::int64_t fetch_rate = 0;
};

/// Nothing where there is no such file. THROWS: PlanFileError; IoError where it
/// cannot be read; OutOfMemory.
NEAP_API std::optional<PlanFileLimits> limits_of(const PlanOptions& plan);

/// One thread at a time. LIFETIME: the options outlive it.
class PlanBook {
 public:
  /// THROWS: ValueError where no plan could be made again from the options.
  explicit PlanBook(const CompileOptions& options);

  /// The program after its passes, of an arena of at most `limit.bytes`: as the
  /// file says, or as fitted() finds it where there is no file, or where the
  /// step has had a plan of it before. THROWS: PlanFileError; IoError; as
  /// fitted().
  Program planned(const Program& traced, const ArenaLimit& limit);
  /// The spare bytes of that limit (Fitted::spare).
  Bytes spare() const noexcept { return spare_; }

  /// The arena of that program, once it is planned. A new plan is now ready to
  /// be written. THROWS: PlanFileError where the file said another arena;
  /// OutOfMemory.
  void note_arena(Bytes arena);

  /// Writes what is new. THROWS: IoError, and the file is that of before, or
  /// there still is none.
  void write();
  /// Forgets what was not written.
  void discard() noexcept;

 private:
  using Content = memory::Vector<std::byte>;

  Content read() const;
  std::optional<PlanRecord> known(const Content& content) const;
  SpillOptions rates_of(const Content& content) const;
  Program remade(const Program& traced);
  Program scheduled(const Program& traced, const Passes& passes);
  bool is_channel_ours() const;
  std::int64_t price_of_whole(const Program& traced) const;
  void check_price(const Fitting& fitting) const;
  void add(const Content& before);

  const CompileOptions& options_;
  PlanFacts facts_;
  // The program that planned() gave last.
  std::uint64_t program_ = 0;
  PlanRecord record_;
  Bytes left_ = 0;         // for the arena of a known plan
  std::size_t calls_ = 0;  // of that plan, each once
  Bytes spare_ = 0;
  bool is_known_ = false;  // by the file
  // The file's next content; empty: it stays unchanged.
  Content next_;
  bool is_ours_ = false;       // it has had a plan of this step
  bool is_ours_next_ = false;  // likewise, once next_ is written
};

}  // namespace neap::compiler
