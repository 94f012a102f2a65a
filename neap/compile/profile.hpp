// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Profile: the time that each call of a compiled step takes, taken in runs of
// their own, so that other runs pay nothing; and, beside what the machine can
// do at most, how near to that each call is.
//
//   compiler::Profile profile = step.profile({.runs = 5}, x, y);
//   profile.limits = report::measure_limits();
//   for (const double percent : profile.shares(step.program())) { ... }
#pragma once

#include <cstdint>
#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::compiler {

class Instructions;
class Program;

struct ProfileOptions {
  int runs = 5;  // at least 1; each is a step like any other, and updates
};

/// The most that a machine does with the context's threads, as measured
/// (report::measure_limits()); 0: not known.
struct MachineLimits {
  double flops = 0.0;  // a second, in a product of f32 matrices
  double bytes = 0.0;  // read and written a second, in a copy of 32 MiB

  bool are_known() const noexcept { return flops > 0.0 && bytes > 0.0; }
};

/// The share of the limits, in percent: the time that the arithmetic or the
/// traffic, whichever takes longer, would need at the limits, of the time that
/// it took. It may be above 100: caches are faster than memory. Negative: not
/// known, without limits or without a time.
NEAP_API double share_of(const MachineLimits& limits, std::int64_t flops,
                         Bytes moved, std::int64_t ns) noexcept;

/// The least of all runs, in nanoseconds. A clock is read twice a call, about
/// 50 ns that are part of it.
struct Profile {
  /// Times of the calls of CompiledStep::program(), in order; -1: a call that
  /// needs no instruction, such as a check before the run.
  memory::Vector<std::int64_t> ns;
  std::int64_t whole = -1;  // of all calls together, in one run
  int runs = 0;
  /// The limits that shares are of; to be set by who wants them.
  MachineLimits limits;

  /// share_of() each call of the program that the times are of. THROWS:
  /// ValueError for other calls; OutOfMemory.
  NEAP_API memory::Vector<double> shares(const Program& calls) const;

  /// Executor::number() of the program, once a run has begun; 0: none has.
  std::uint64_t program = 0;
  std::uint64_t work = 0;  // digest of its calls (work_digest())

  /// Whether a run of this program belongs to it: the first does. `of`: its
  /// executor's number. THROWS: OutOfMemory.
  bool accepts(std::uint64_t of, const Program& calls);
  /// Runs the instructions as Instructions::run does. REQUIRES: `ns` has as
  /// many elements as the program has calls. THROWS: as that.
  void run(Instructions& instructions, std::size_t& at);
};

/// A digest of calls: of what each does and how much. Begin with 0.
NEAP_API std::uint64_t work_digest(std::uint64_t before, std::string_view op,
                                   std::int64_t flops, Bytes moved) noexcept;

/// THROWS: ValueError for less than one run.
NEAP_API void check_runs(const ProfileOptions& options);
/// THROWS: ValueError unless all runs are in it: the step was traced again
/// meanwhile, or has a debug mode, in which no times are taken.
NEAP_API void check_whole(const Profile& profile,
                          const ProfileOptions& options);

}  // namespace neap::compiler
