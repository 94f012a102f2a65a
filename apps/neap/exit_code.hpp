// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The meanings of the tool's exit status; `neap --help` prints the same list.
#pragma once

#include <string_view>

namespace neap::app {

enum class ExitCode {
  kOk = 0,
  kInternal = 1,       // a bug in neap
  kUsage = 2,          // bad arguments or settings
  kData = 3,           // a data file is missing, damaged or does not fit
  kMemory = 4,         // the budget or the machine's memory does not suffice
  kOutput = 5,         // a result could not be written
  kLeak = 6,           // what neap doctor ran is well but for its leaks
  kRanks = 7,          // a rank was lost, or differs from others
  kInterrupted = 130,  // stopped by Ctrl-C, after a clean end
  kTerminated = 143    // the same by SIGTERM
};

inline constexpr const char* kExitCodeHelp =
    "Exit status: 0 success; 1 a bug in neap; 2 bad arguments or settings;\n"
    "3 a data file is missing, damaged or does not fit; 4 the budget or the\n"
    "machine's memory does not suffice; 5 a result could not be written;\n"
    "6 the program of neap doctor leaks; 7 a rank was lost, or differs from\n"
    "others; 130 stopped by Ctrl-C, 143 by SIGTERM.\n";

/// Why kMemory where nothing more is known.
inline constexpr const char* kNoMemory = "the system gives no more memory";

/// Writes one line to standard error. Takes no memory. A line that cannot be
/// written (standard error is closed, or a full disk) is lost.
void write_failure(std::string_view message) noexcept;

/// Writes the one line of a failure, with foreign texts in it escaped and cut;
/// returns `code`, or kMemory where there is none for that.
ExitCode fail(ExitCode code, std::string_view message) noexcept;

}  // namespace neap::app
