// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step within CompileOptions::budget. What is held beside the arena is found
// by asking for it: a request that the budget refuses says how much too high
// the arena was, and the program is made anew for a lower one.
#include <algorithm>
#include <exception>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/compile/away.hpp"
#include "neap/compile/step_core.hpp"
#include "neap/memory/external_room.hpp"
#include "neap/memory/system_pages.hpp"

namespace neap::compiler {
namespace {

using Details = OutOfMemory::Details;

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

// Bookkeeping of a call, less than which none takes: with more, programs of
// many calls would be left out that fit.
constexpr Bytes kLeastOfCall = 192;

// The limits of programs that are refused one after the other: each is the
// cheapest of all that need less than the one before, whatever the budget,
// which says where they begin and where they end. A larger one, then, never
// ends at a dearer program.
class Descent {
 public:
  /// Takes note of a program that was refused; nullptr: it could not even be
  /// made. `spare`: its limit could have been so much lower. RETURNS: false
  /// where no lower one is made.
  bool refused(const Executor* executor, const Details& asked, Bytes spare) {
    if (limit_.calls == 0) {
      return executor != nullptr && begin(*executor);
    }
    // A request takes whole pages, which may be what is too much.
    const Bytes would_do =
        std::max(asked.held + asked.external + asked.requested,
                 asked.budget + memory::page_bytes());
    limit_.would_do =
        limit_.would_do == 0 ? would_do : std::min(limit_.would_do, would_do);
    const Bytes before = std::exchange(needs_, limit_.bytes - spare);
    return spare >= 0 && needs_ < before;
  }

  /// `left` is what the budget leaves for a program and its arena; `least`: the
  /// arena is there, and a lower one gains nothing.
  const ArenaLimit& next(Bytes left, Bytes least) {
    limit_.bytes = std::max(std::min(left - beside_, needs_ - 1), least);
    return limit_;
  }

 private:
  bool begin(const Executor& first) {
    const Program& program = first.program();
    const Bytes books = first.bytes();
    limit_.calls = std::max<std::size_t>(program.calls.size(), 1);
    limit_.bytes_a_call = kLeastOfCall;
    beside_ = books + still_to_come(program);
    needs_ = first.plan().space().bytes - program.away_bytes();
    return true;
  }

  ArenaLimit limit_;
  Bytes needs_ = 0;   // of the latest program, as limits count
  Bytes beside_ = 0;  // beside the arena of the first one
};

[[noreturn]] void refuse(const Details& asked) {
  base::raise<PlanError>(
      "compile: a budget of {} leaves nothing for the arena of the step: {} "
      "are held, and {} are the process itself (external)",
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

// `place` asks for the arena and for what the program needs beside it. A call
// that fits does nothing else.
void StepCore::within_budget(Entry& entry, base::FunctionRef<Program()> trace,
                             base::FunctionRef<void()> place) {
  std::exception_ptr failure;
  for (const Resort resort : {Resort::kAsItIs, Resort::kOwnArena,
                              Resort::kNewTrace, Resort::kAlone}) {
    try {
      if (take(resort, entry, trace)) {
        lower_until_placed(entry, place);
        entry.traced.reset();
        return;
      }
    } catch (const OutOfMemory& error) {
      if (error.details().reason != OutOfMemory::Reason::kBudget) {
        throw;
      }
      failure = std::current_exception();
    } catch (const PlanError&) {
      failure = std::current_exception();
    }
  }
  std::rethrow_exception(failure);
}

// RETURNS: false where it would be no other than before.
bool StepCore::take(Resort resort, Entry& entry,
                    base::FunctionRef<Program()> trace) {
  const bool is_trace_due =
      resort == Resort::kNewTrace && may_trace_anew(entry);
  switch (resort) {
    case Resort::kAsItIs:
      return true;
    case Resort::kOwnArena:
      if (!free_arena_beyond(entry)) {
        return false;
      }
      break;
    case Resort::kNewTrace:
      if (!is_trace_due) {
        return false;
      }
      break;
    case Resort::kAlone:
      if (!free_others(&entry)) {
        return false;
      }
  }
  if (is_trace_due || entry.traced) {
    drop(entry);
  }
  if (!entry.executor && !entry.traced) {
    entry.traced =
        memory::make_owned<Program>(memory::Category::kGraph, trace());
    ++traces_;
    why_ = "the budget leaves less than its plan needs";
  }
  if (entry.traced) {
    entry.executor = entry.may_grow
                         ? make(entry.traced->copy_apart(), options_.passes,
                                {.bytes = options_.arena_limit})
                         : make_fitting(*entry.traced);
  }
  return true;
}

// Its books make room for the next.
void StepCore::drop(Entry& entry) noexcept {
  if (entry.executor) {
    forget(*entry.executor);
    entry.executor.reset();
  }
  entry.is_new = true;  // goes with this attempt, if that fails
}

// A call that is refused must leave the results of the one before it.
bool StepCore::may_trace_anew(const Entry& entry) const noexcept {
  return !entry.traced && entry.executor && options_.budget != kUnlimited &&
         !plans_ && (entry.executor.get() != last_ || !are_results_held());
}

bool StepCore::are_results_held() const noexcept {
  return last_ != nullptr && last_->results().are_held();
}

// The arena, where it is larger than the program needs, and holds no results.
// RETURNS: false where it stays.
bool StepCore::free_arena_beyond(const Entry& entry) noexcept {
  // Where a trace or a plan was refused, no program says what it needs.
  const bool is_larger =
      entry.may_grow &&
      (entry.traced || !entry.executor ||
       entry.executor->plan().space().bytes < arenas_.capacity());
  const Bytes before = arenas_.bytes();
  if (is_larger && !are_results_held()) {
    arenas_.let_go();
  }
  return arenas_.bytes() < before;
}

// All programs but `kept`, and the arena, as far as no result that somebody
// holds lies there. RETURNS: false where there was nothing.
bool StepCore::free_others(const Entry* kept) noexcept {
  const Executor* held = are_results_held() ? last_ : nullptr;
  const auto count = std::erase_if(entries_, [&](Entry& entry) {
    const bool stays =
        &entry == kept || (held != nullptr && entry.executor.get() == held);
    if (!stays && entry.executor) {
      forget(*entry.executor);
    }
    return !stays;
  });
  const Bytes before = arenas_.bytes();
  if (kept != nullptr) {
    free_arena_beyond(*kept);
  } else if (held == nullptr) {
    arenas_.let_go();
  }
  return count != 0 || arenas_.bytes() < before;
}

// Does what find() does, and once more without the programs that are there,
// where a trace or a plan gets no memory beside them.
StepCore::Entry& StepCore::find_or_free(Step step) {
  try {
    return find(step);
  } catch (const OutOfMemory& error) {
    if (error.details().reason != OutOfMemory::Reason::kBudget ||
        !free_others(nullptr)) {
      throw;
    }
  }
  return find(step);
}

// Each time that it is refused the program, if it is new, gives way to a lower
// one.
void StepCore::lower_until_placed(Entry& entry,
                                  base::FunctionRef<void()> place) {
  const Bytes before = arenas_.bytes();
  bool may_go = false;
  Descent descent;
  ArenaLimit limit;
  for (;;) {
    Details asked;
    try {
      if (!entry.executor) {
        entry.executor = make(entry.traced->copy_apart(), options_.passes, limit);
      }
      place();
      return;
    } catch (const OutOfMemory& error) {
      asked = error.details();
      if (!entry.traced || asked.reason != OutOfMemory::Reason::kBudget) {
        throw;
      }
    }
    if (arenas_.bytes() > before) {
      arenas_.let_go();  // and leaves room to look for what may go
    }
    const Executor* refused = entry.executor.get();
    may_go = refused != nullptr ? may_send_away(entry) : may_go;
    if ((refused != nullptr && !may_go &&
         refused->plan().space().bytes <= before) ||
        !descent.refused(refused, asked, spare_)) {
      throw OutOfMemory(asked);
    }
    drop(entry);  // its bookkeeping gives way to the next
    const Bytes there = arena_beside(entry);
    limit = descent.next(left_within(asked.budget),
                         may_go ? -kUnlimited : there);
    if (limit.bytes <= 0 && options_.spill.folder.empty()) {
      refuse(asked);
    }
    limit.budget = asked.budget;
    limit.most = options_.memory.empty() ? kUnlimited : arenas_.capacity();
    limit.there = there;
  }
}

// The arena that is there, or will be for the other programs (fit()).
Bytes StepCore::arena_beside(const Entry& entry) const noexcept {
  Bytes there = arenas_.capacity();
  for (const Entry& other : entries_) {
    if (options_.max_batch > 0 && &other != &entry && other.may_grow &&
        other.executor) {
      there = std::max(there, other.executor->plan().space().bytes);
    }
  }
  return there;
}

// The bytes that a budget leaves for a program and its arena.
Bytes StepCore::left_within(Bytes budget) const {
  arenas_.domain().trim();
  const memory::Stats stats = arenas_.domain().stats();
  return budget - stats.held - stats.external + arenas_.bytes();
}

// All of them or none: those that are home already would only be in the way of
// a plan that keeps them away.
void StepCore::expect_room_for_states(const Program& program) const {
  if (const Bytes bytes = still_to_come(program); bytes != 0) {
    memory::expect_external_room(bytes, tag_of_states(), arenas_.domain());
  }
}

// The first run's requests are made ahead, too: what they lack makes the arena
// lower.
void StepCore::fit_ahead(Entry& entry) {
  lower_until_placed(entry, [&] {
    fit(entry);
    if (entry.traced) {
      entry.executor->reserve(arenas_);
      entry.executor->abandon();
    }
  });
  entry.traced.reset();
}

}  // namespace neap::compiler
