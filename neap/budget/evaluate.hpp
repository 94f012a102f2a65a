// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks that a schedule computes what its problem asks for, and finds the
// memory that it needs and the cost of its further runs. It shares no code with
// what makes schedules, so that a mistake there cannot hide here.
#pragma once

#include "neap/budget/problem.hpp"

namespace neap::budget {

enum class Fault : std::uint8_t {
  kNone,
  kOrder,     // first runs in another order, or calls that never run
  kAbsent,    // a value is read, or is to outlive the calls, and is not there
  kTooLate,   // a call runs again behind its again_until
  kDrop,      // what is not there is dropped
  kMayNot,    // a value is moved that may not be, or there is no channel
  kNotThere,  // what is written, or waited for, is not there
  kWrittenTwice,    // what is on the file is written again
  kTooMuchWritten,  // more than the channel's most_written
  kNotOnFile,       // what was not written is fetched
  kFetchTwice,      // what is there, or on its way, is fetched
};

struct Evaluation {
  Fault fault = Fault::kNone;
  std::int32_t run = -1;       // of the fault; the number of runs: at the end
  std::int32_t value = -1;     // of the fault
  std::int64_t peak = 0;       // the most memory while a call runs
  std::int32_t peak_run = -1;  // the first with so much
  /// The price of all runs but the first of each call, of moves on the bus, and
  /// of stalls.
  std::int64_t price = 0;
  std::int64_t stalls = 0;   // nanoseconds in which calls wait for the channel
  std::int64_t written = 0;  // bytes
  std::int64_t fetched = 0;  // bytes
  bool is_good() const noexcept { return fault == Fault::kNone; }
};

/// The first fault, or the peak and the price. While a call runs, there is in
/// memory: what was made and not dropped, its outputs (those of another run
/// beside the ones that are still there) and its scratch, less the outputs that
/// take over an input that is dropped when it ends. A value on its way from the
/// file is in memory. The channel and the calls keep the time that problem.hpp
/// tells of: a call takes its price, a move size / rate. THROWS: ValueError as
/// check(); OutOfMemory.
NEAP_API Evaluation evaluate(const Problem& problem, const Schedule& schedule);

/// "none", "order", "absent", ...
NEAP_API const char* name_of(Fault fault) noexcept;

}  // namespace neap::budget
