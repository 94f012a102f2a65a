// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step within CompileOptions::budget. What is held beside the arena is found
// by asking for it: a request that the budget refuses says how much too high
// the arena was, and the program is made anew for a lower one.
#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/compile/step_core.hpp"

namespace neap::compiler {
namespace {

using Details = OutOfMemory::Details;

// With calls that run again the books grow, so one attempt is not enough.
constexpr int kMostAttempts = 12;

[[noreturn]] void refuse(const Details& asked) {
  base::raise<PlanError>(
      "compile: a budget of {} leaves nothing for the arena of the step: {} "
      "are held, and {} are the process's",
      format_bytes(asked.budget), format_bytes(asked.held),
      format_bytes(asked.external));
}

}  // namespace

// `place` asks for the arena and for what the program needs beside it.
void StepCore::within_budget(Entry& entry, base::FunctionRef<void()> place) {
  const Bytes before = arenas_.bytes();
  // Of many requests the first may be refused: each attempt gives up more.
  Bytes least = kUnit;
  for (int attempt = 0;; ++attempt) {
    Details asked;
    try {
      place();
      break;
    } catch (const OutOfMemory& error) {
      asked = error.details();
      if (!entry.traced || asked.reason != OutOfMemory::Reason::kBudget ||
          entry.executor->plan().space().bytes <= before ||
          attempt == kMostAttempts) {
        throw;
      }
    }
    const Bytes lacks =
        asked.held + asked.external + asked.requested - asked.budget;
    const Bytes arena = entry.executor->plan().space().bytes;
    least = std::max(least * 2, arena / 256);
    if (arenas_.bytes() > before) {
      arenas_.let_go();
    }
    // Where results are held in the arena that was there, it still is.
    lower_arena(entry,
                std::max(arena - std::max(lacks, least), arenas_.bytes()),
                asked);
  }
  entry.traced.reset();
}

// The program anew, with an arena of at most `limit` bytes.
void StepCore::lower_arena(Entry& entry, Bytes limit, const Details& asked) {
  forget(*entry.executor);
  entry.executor.reset();  // its books make room for the next
  if (limit <= 0) {
    refuse(asked);
  }
  entry.executor = make(entry.traced->copy(), options_.passes,
                        {.bytes = limit, .budget = asked.budget});
}

// Also what the first run will ask for: what it lacks makes the arena lower.
void StepCore::fit_ahead(Entry& entry) {
  within_budget(entry, [&] {
    fit(entry);
    if (entry.traced) {
      entry.executor->reserve(arenas_);
      entry.executor->abandon();
    }
  });
}

}  // namespace neap::compiler
