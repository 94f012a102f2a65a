// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step within CompileOptions::budget. What is held beside the arena is found
// by asking for it: a request that the budget refuses says how much too high
// the arena was, and the program is made anew for a lower one.
#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/compile/away.hpp"
#include "neap/compile/step_core.hpp"
#include "neap/memory/external_room.hpp"

namespace neap::compiler {
namespace {

using Details = OutOfMemory::Details;

// With calls that run again the books grow, so one attempt is not enough.
constexpr int kMostAttempts = 12;

// Bytes of states that are to come home, and have not yet asked for theirs.
Bytes still_to_come(const Program& program) {
  Bytes sum = 0;
  for (const External& external : program.externals) {
    if (!external.is_away && external.tensor.defined()) {
      const tensor::Storage& storage = *external.tensor.array()->storage();
      sum += storage.is_away() ? storage.size() : 0;
    }
  }
  return sum;
}

memory::Tag tag_of_states() noexcept {
  return memory::current_tag(memory::Category::kOptimizerState);
}

// What a request lacks, and those that will follow it.
Bytes lack_of(const Details& asked, const Program& program) {
  const Bytes states = still_to_come(program);
  const bool is_theirs =
      asked.tag.category == memory::Category::kOptimizerState &&
      asked.requested == states;
  return asked.held + asked.external + asked.requested - asked.budget +
         (is_theirs ? 0 : states);
}

[[noreturn]] void refuse(const Details& asked) {
  base::raise<PlanError>(
      "compile: a budget of {} leaves nothing for the arena of the step: {} "
      "are held, and {} are the process's",
      format_bytes(asked.budget), format_bytes(asked.held),
      format_bytes(asked.external));
}

}  // namespace

bool StepCore::may_send_away(const Entry& entry) const {
  const Program& program = entry.executor->program();
  if (!program.away.empty()) {
    return true;
  }
  const MostAway most = most_away(program, options_.spill);
  return most.states + most.weights != 0;
}

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
          (entry.executor->plan().space().bytes <= before &&
           !may_send_away(entry)) ||
          attempt == kMostAttempts) {
        throw;
      }
    }
    const Program& program = entry.executor->program();
    const Bytes lacks = lack_of(asked, program);
    const Bytes arena = entry.executor->plan().space().bytes;
    const Bytes away = program.away_bytes();
    least = std::max(least * 2, arena / 256);
    if (arenas_.bytes() > before) {
      arenas_.let_go();
    }
    // Where results are held in the arena that was there, it still is, and a
    // lower one gains nothing; states that go away do.
    const Bytes there = arenas_.bytes();
    const Bytes less = std::max(lacks, least);
    lower_arena(entry,
                may_send_away(entry) ? std::max(arena, there) - less - away
                                     : std::max(arena - less, there),
                asked);
  }
  entry.traced.reset();
}

// The program anew, with an arena of at most `limit` bytes, and of those of the
// states that it keeps away.
void StepCore::lower_arena(Entry& entry, Bytes limit, const Details& asked) {
  forget(*entry.executor);
  entry.executor.reset();  // its books make room for the next
  if (limit <= 0 && options_.spill.folder.empty()) {
    refuse(asked);
  }
  entry.executor =
      make(entry.traced->copy(), options_.passes,
           {.bytes = limit,
            .budget = asked.budget,
            .most = options_.memory.empty() ? kUnlimited : arenas_.capacity()});
}

// All of them or none: those that are home already would only be in the way of
// a plan that keeps them away.
void StepCore::expect_room_for_states(const Program& program) const {
  if (const Bytes bytes = still_to_come(program); bytes != 0) {
    memory::expect_external_room(bytes, tag_of_states(), arenas_.domain());
  }
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
