// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The programs of a compiled step: which holds for a call, and how one is made
// where none does.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/compile/lower.hpp"
#include "neap/compile/step_core.hpp"
#include "neap/program/trail.hpp"

namespace neap::compiler {

using base::raise;

namespace {

// The specs with another batch.
memory::Vector<tensor::Spec> with_batch(std::span<const tensor::Spec> specs,
                                        std::int64_t batch) {
  memory::Vector<tensor::Spec> out(specs.begin(), specs.end());
  for (tensor::Spec& spec : out) {
    if (spec.shape.rank() >= 1) {
      spec.shape[0] = batch;
    }
  }
  return out;
}

// THROWS: ShapeError where arguments differ in it.
std::int64_t batch_of(std::span<const tensor::Spec> specs) {
  std::int64_t batch = -1;
  for (const tensor::Spec& spec : specs) {
    if (spec.shape.rank() == 0) {
      continue;
    }
    if (batch >= 0 && spec.shape[0] != batch) {
      raise<ShapeError>(
          "compile: batches of {} and {} in one call; with max_batch, axis 0 "
          "of every argument is the batch",
          batch, spec.shape[0]);
    }
    batch = spec.shape[0];
  }
  return batch;
}

}  // namespace

StepCore::Entry* StepCore::find_traced(
    std::span<const tensor::Spec> specs) noexcept {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.executor->holds_for(given(specs));
      });
  if (found == entries_.end()) {
    return nullptr;
  }
  std::rotate(entries_.begin(), found, found + 1);
  return &entries_.front();
}

StepCore::Entry& StepCore::find(Step step) {
  if (Entry* entry = find_traced(specs_)) {
    return *entry;
  }
  if (options_.max_batch > 0) {
    add_sizes(step, specs_);
    if (Entry* entry = find_traced(specs_)) {
      return *entry;
    }
  }
  const bool has_gaps =
      std::any_of(arguments_.begin(), arguments_.end(),
                  [](const Tensor& tensor) { return !tensor.is_contiguous(); });
  return add(step, specs_, options_.max_batch == 0 || has_gaps);
}

// The largest batch first, then those that are asked for ahead: the arena is
// made for them all.
void StepCore::add_sizes(Step step, std::span<const tensor::Spec> specs) {
  const std::int64_t batch = batch_of(specs);
  if (batch > options_.max_batch) {
    raise<PlanError>("compile: a batch of {}, max_batch is {}", batch,
                     options_.max_batch);
  }
  const bool is_first = entries_.empty();
  const auto largest = with_batch(specs, options_.max_batch);
  if (find_traced(largest) == nullptr) {
    add_ahead(step, largest, options_.max_batch);
  }
  if (is_first) {
    for (const std::int64_t size : options_.warm) {
      const auto warm = with_batch(specs, size);
      if (size > options_.max_batch) {
        raise<PlanError>(
            "compile: .warm asks for a batch of {}, max_batch is {}", size,
            options_.max_batch);
      }
      if (find_traced(warm) == nullptr) {
        add_ahead(step, warm, size);  // it may need more scratch
      }
    }
  }
}

// A program for another batch than that of the call. Where shapes do not suit
// that one, and the call's own do, the step's tensors have the batch of the
// call.
void StepCore::add_ahead(Step step, std::span<const tensor::Spec> specs,
                         std::int64_t batch) {
  std::string what;
  try {
    fit_ahead(add(step, specs, true));
    return;
  } catch (const ShapeError& error) {
    if (batch == batch_of(specs_)) {
      throw;
    }
    what = error.what();
  }
  const Program own = trace(step, given(specs_), base::site_of(site_));
  raise<PlanError>(
      "compile: with .max_batch {} the step is traced for a batch of {} before "
      "the call's own, and that fails: {}; a tensor that it captures or leaves "
      "in a state has the call's batch in its shape: compile it without "
      ".max_batch, or make the shape independent of the batch",
      options_.max_batch, batch, what);
}

memory::Owned<Executor> StepCore::make(Program program, const Passes& passes,
                                       const ArenaLimit& limit) {
  spare_ = -1;
  if (plans_) {
    program = plans_->planned(program, limit);
    spare_ = plans_->spare();
  } else if (options_.debug.away != Debug::Away::kByPrice) {
    program = all_away(program, options_).program;
  } else if (limit.bytes == kUnlimited) {
    run_passes(program, passes);
  } else {
    Fitted found = fitted(program, options_, limit);
    program = found.program.copy_apart();  // without what trials left
    spare_ = found.spare;
  }
  auto executor = memory::make_owned<Executor>(
      memory::Category::kGraph, std::move(program), options_.debug,
      options_.planner, options_.paged,
      options_.memory.empty() ? Bytes{0} : arenas_.capacity());
  if (plans_) {
    plans_->note_arena(executor->plan().space().bytes);
  }
  return executor;
}

// Traces the step once more, for its program to be compared.
void StepCore::verify(Step step, Entry& entry) {
  using What = Difference::What;
  entry.executor->check_states_now();  // a trace would tell less
  const Program now = trace_of_all(step, given(specs_), base::site_of(site_));
  const auto [what, at] =
      difference(trail_of(now), entry.executor->program().trail);
  if (what == What::kNone) {
    return;
  }
  entry.is_new = true;  // goes with this attempt
  const std::string where =
      at < now.calls.size() && what != What::kEnd
          ? fmt::format("call {}, {} at {}", at, now.calls[at].name,
                        base::format_site(now.calls[at].site))
          : std::string("what it returns or leaves");
  if (what == What::kOperand || what == What::kHandles) {
    raise<TraceError>(
        "compile: the step does the same as when it was traced, but to another "
        "of the tensors or handles that it captured ({}; one that it assigns "
        "to may be read in place of another); reset() the step after "
        "exchanging handles",
        what == What::kOperand ? where : "a handle that it did not read");
  }
  raise<TraceError>(
      "compile: the step no longer does what it did when it was traced: {} "
      "differs; a number or a branch of the host has changed, give it to the "
      "step as an argument",
      where);
}

void StepCore::explain(std::span<const tensor::Spec> specs) {
  if (entries_.empty()) {
    why_ = traces_ == 0 ? "the first call" : "no program is left";
    return;
  }
  const Executor& last = *entries_.front().executor;
  const GivenArguments now = given(specs);
  why_ = last.describe(last.broken(now), now);
}

// The limit of a program beside others: it fits into their arena, and keeps as
// much away.
ArenaLimit StepCore::limit_of_next() const {
  ArenaLimit out{.bytes = options_.arena_limit};
  if (arenas_.bytes() != 0) {
    out.bytes = std::min(out.bytes, arenas_.capacity());
  }
  Bytes away = 0;
  for (const Entry& entry : entries_) {
    if (entry.executor) {
      away = std::max(away, entry.executor->program().away_bytes());
    }
  }
  if (away != 0) {
    out.most = out.bytes;
    out.bytes -= away;
    out.budget = options_.budget;
  }
  return out;
}

// Passes look for a lower peak by rules of thumb, so that a smaller batch may
// end a little higher than the one that the arena was made for. It is then
// tried with some of them off, each time on a copy of what was traced, then
// with calls that run again. What is higher still makes the arena grow, where
// it may.
memory::Owned<Executor> StepCore::make_fitting(const Program& traced) {
  if (options_.arena_limit != kUnlimited || options_.budget != kUnlimited ||
      plans_) {
    return make(traced.copy_apart(), options_.passes, limit_of_next());
  }
  constexpr std::array<bool Passes::*, 4> kMayGo{
      &Passes::fuse, &Passes::common_subexpressions, &Passes::reorder,
      &Passes::copy_again};
  auto best = make(traced.copy(), options_.passes, {});
  const auto is_enough = [&](memory::Owned<Executor> other) {
    if (other->plan().space().bytes < best->plan().space().bytes) {
      best = std::move(other);
    }
    return arenas_.has_room(best->plan());
  };
  bool is_there = arenas_.has_room(best->plan());
  for (unsigned off = 1; !is_there && off < 1U << kMayGo.size(); ++off) {
    Passes fewer = options_.passes;
    bool is_new = true;  // what is off already would be the same once more
    for (std::size_t k = 0; k < kMayGo.size(); ++k) {
      if ((off >> k & 1U) != 0) {
        is_new = is_new && fewer.*kMayGo[k];
        fewer.*kMayGo[k] = false;
      }
    }
    is_there = is_new && is_enough(make(traced.copy(), fewer, {}));
  }
  if (!is_there) {
    try {
      auto again =
          make(traced.copy(), options_.passes, {.bytes = arenas_.capacity()});
      if (arenas_.has_room(again->plan())) {
        return again;
      }
    } catch (const PlanError&) {  // no schedule is that low
    }
  }
  return best;
}

// A smaller batch that needs more than the largest one is no reason to stop,
// where nobody has set a bound.
bool StepCore::may_outgrow() const noexcept {
  return options_.memory.empty() && options_.arena_limit == kUnlimited &&
         options_.budget == kUnlimited && !plans_;
}

Program StepCore::traced(Step step, std::span<const tensor::Spec> specs) {
  return trace_for(step, given(specs), options_, base::site_of(site_));
}

StepCore::Entry& StepCore::add(Step step, std::span<const tensor::Spec> specs,
                               bool may_grow) {
  explain(specs);
  Entry made{.executor = {}, .may_grow = may_grow};
  Program program = traced(step, specs);
  if (may_grow && options_.budget != kUnlimited) {
    made.traced =
        memory::make_owned<Program>(memory::Category::kGraph,
                                    program.copy_apart());
  }
  made.executor = may_grow ? make(std::move(program), options_.passes,
                                  {.bytes = options_.arena_limit})
                           : make_fitting(program);
  ++traces_;
  drop_stale();
  if (entries_.size() == static_cast<std::size_t>(options_.programs)) {
    forget(*entries_.back().executor);
    entries_.pop_back();
  }
  entries_.insert(entries_.begin(), std::move(made));
  return entries_.front();
}

void StepCore::forget(Executor& executor) noexcept {
  for (Executor** user : {&last_, &ready_}) {
    if (*user == &executor) {
      *user = nullptr;
    }
  }
  executor.results().revoke(site_);
  arenas_.forget(executor.plan());
}

// Drops stale programs, and with them the caller's objects that they hold.
void StepCore::drop_stale() {
  std::erase_if(entries_, [&](Entry& entry) {
    const bool is_stale = !entry.executor->is_current();
    if (is_stale) {
      forget(*entry.executor);
    }
    return is_stale;
  });
}

}  // namespace neap::compiler
