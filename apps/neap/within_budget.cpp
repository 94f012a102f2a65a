// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "within_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "neap/base/bytes.hpp"
#include "neap/base/error.hpp"
#include "neap/compile/channel.hpp"
#include "neap/files/door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/files/scratch_file.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "ranks.hpp"
#include "remedies.hpp"
#include "run_parts.hpp"
#include "state_search.hpp"
#include "view_files.hpp"

namespace neap::app {
namespace {

// The largest batch of which a run holds no more than the budget; 0: none.
// What a run holds grows with the batch, nearly along a line.
class BatchSearch {
 public:
  BatchSearch(const TrainSettings& settings, Bytes external)
      : settings_(settings),
        room_(settings.budget - external),
        least_(settings.ranks > 1 ? shards_of(settings) : 1) {}

  Result<std::int64_t> run() {
    std::int64_t fits = 0;
    std::int64_t fails = least_;
    Bytes at_fits = 0;
    for (;;) {
      const auto held = peak(fails);
      if (!held) {
        return tl::unexpected(held.error());
      }
      if (*held > room_ && fails == least_) {
        return 0;
      }
      if (*held > room_ || fails >= kMostSamples) {
        return narrow(fits, at_fits, fails, *held);
      }
      fits = fails;
      at_fits = *held;
      fails *= 4;
    }
  }

 private:
  Result<Bytes> peak(std::int64_t batch) const {
    const auto known = rehearse(settings_, batch);
    if (!known) {
      return tl::unexpected(known.error());
    }
    return known->peak;
  }

  Result<std::int64_t> narrow(std::int64_t fits, Bytes at_fits,
                              std::int64_t fails, Bytes at_fails) const {
    for (int i = 0; fails - fits > 1; ++i) {
      const double share = static_cast<double>(room_ - at_fits) /
                           static_cast<double>(at_fails - at_fits);
      std::int64_t middle =
          fits +
          static_cast<std::int64_t>(static_cast<double>(fails - fits) * share);
      // A line that bends would be followed step by step: halve now and then.
      middle = i % 3 == 2 ? fits + (fails - fits) / 2 : middle;
      middle = std::clamp(middle, fits + 1, fails - 1);
      const auto held = peak(middle);
      if (!held) {
        return tl::unexpected(held.error());
      }
      if (*held > room_) {
        fails = middle;
        at_fails = *held;
      } else {
        fits = middle;
        at_fits = *held;
      }
    }
    return fits;
  }

  const TrainSettings& settings_;
  Bytes room_;
  std::int64_t least_;  // ranks refuse a shard without samples
};

// A few lines, none longer than a terminal's: the failure, and facts below it.
class Refusal {
 public:
  explicit Refusal(const TrainSettings& s)
      : text_(fmt::format("the budget of {} is too small for this run",
                          format_bytes(s.budget))) {}

  Refusal& add(std::string_view name, std::string_view fact) {
    text_ += fmt::format("\n  {:<11}{}", name, fact);
    return *this;
  }
  Refusal& add_batch(std::int64_t most) {
    return add("would fit",
               most == 0 ? std::string("no batch with all values kept")
                         : fmt::format("--batch {}, all values kept", most));
  }
  Refusal& add_curve(const TrainSettings& s) {
    add("see", "neap fit, same options: what each budget costs");
    return add("", s.page.empty()
                       ? "neap plan, same options, --page FILE: every byte"
                       : "the file of --page: every byte, and this refusal");
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

std::string needed_by(const TrainSettings& s, Bytes bytes,
                      std::string_view which) {
  return fmt::format("{} {}, {} more", format_bytes(bytes), which,
                     format_bytes_short(bytes - s.budget));
}

std::string too_little(const Rehearsal& r) {
  return fmt::format("{} beside the step's arena, {} the process itself",
                     format_bytes_short(r.peak - r.arena),
                     format_bytes_short(r.external));
}

std::string no_plan(Bytes arena) {
  return fmt::format("no plan fits an arena of {}, whatever calls run again",
                     format_bytes_short(arena));
}

// The largest limit of the arena with which the run is within the budget. The
// plans that are tried are those that cost less and less memory and more and
// more time, the same whatever the budget, which says where they begin and
// where they end: a larger one, then, never ends at a dearer plan.
class ArenaSearch {
 public:
  ArenaSearch(const TrainSettings& settings, WithinBudget& out)
      : settings_(settings),
        out_(out),
        room_(settings.budget - out.all_kept.external) {}

  Result<void> run() {
    const Rehearsal& kept = out_.all_kept;
    Bytes next = std::min(room_ - (kept.peak - kept.arena), kept.arena - 1);
    while (next > 0) {
      const auto arena = look_at(next);
      if (!arena) {
        return tl::unexpected(arena.error());
      }
      if (out_.is_met() || *arena == 0) {
        break;
      }
      next = std::min(next, *arena) - 1;
    }
    return {};
  }

 private:
  // The arena of the plan; 0: there is none.
  Result<Bytes> look_at(Bytes limit) {
    TrainSettings limited = settings_;
    limited.arena_limit = limit;
    try {
      Rehearsal now;
      auto lacks = lacking(limited, now);
      if (!lacks) {
        return lacks;
      }
      if (*lacks <= 0) {
        out_.rehearsal = std::move(now);
        out_.arena_limit = limit;
        out_.why_not.clear();
        return out_.rehearsal.arena;
      }
      return now.peak > 0 ? now.arena : arena_of(limited);
    } catch (const PlanError&) {
      out_.why_not = no_plan(limit);
      return 0;
    }
  }

  // The arena of a plan for which memory did not suffice.
  Result<Bytes> arena_of(const TrainSettings& limited) const {
    const auto found = rehearse_in(limited, limited.arena_limit);
    if (!found) {
      return tl::unexpected(found.error());
    }
    return *found ? (*found)->arena : 0;
  }

  const TrainSettings& settings_;
  WithinBudget& out_;
  Bytes room_;  // for all that a run holds
};

}  // namespace

Bytes excess(const TrainSettings& s, const Rehearsal& r) {
  return r.peak - (s.budget - r.external);
}

bool fits(const TrainSettings& s, const Rehearsal& r) {
  return s.budget == kUnlimited || excess(s, r) <= 0;
}

Result<Bytes> lacking(const TrainSettings& settings, Rehearsal& now) {
  try {
    auto next = rehearse(settings, settings.batch);
    if (!next) {
      return tl::unexpected(next.error());
    }
    now = std::move(*next);
    return excess(settings, now);
  } catch (const OutOfMemory& error) {
    const OutOfMemory::Details& asked = error.details();
    if (asked.reason != OutOfMemory::Reason::kBudget) {
      throw;
    }
    // A request takes whole pages, which may be what is too much.
    return std::max<Bytes>(
        asked.held + asked.requested + asked.external - asked.budget, 1);
  }
}

Result<std::optional<Rehearsal>> rehearse_in(const TrainSettings& settings,
                                             Bytes arena) {
  TrainSettings limited = settings;
  limited.budget = kUnlimited;
  limited.arena_limit = arena;
  try {
    return rehearse(limited, limited.batch).map([](const Rehearsal& known) {
      return std::optional(known);
    });
  } catch (const PlanError&) {
    return std::optional<Rehearsal>();
  }
}

ExitCode measure_spill(TrainSettings& settings) {
  if (settings.spill.empty()) {
    return ExitCode::kOk;
  }
  if (!settings.compile) {
    return fail(ExitCode::kUsage,
                "--spill: an eager run has no plan; leave out --eager");
  }
  files::Door& door = files::system_door();
  if (const auto file = files::ScratchFile::create(door, settings.spill, 0);
      !file) {
    return fail(ExitCode::kOutput, "--spill: " + file.error().message);
  }
  try {
    const SpillOptions known =
        compiler::with_rates({.folder = settings.spill,
                              .write_rate = settings.spill_write_rate,
                              .fetch_rate = settings.spill_fetch_rate});
    settings.spill_write_rate = known.write_rate;
    settings.spill_fetch_rate = known.fetch_rate;
  } catch (const IoError& error) {
    return fail(ExitCode::kOutput, error.what());
  }
  return ExitCode::kOk;
}

ExitCode open_costs(TrainSettings& settings) {
  const auto shared = [](base::Ref<compiler::CostBook> book) {
    return std::make_shared<base::Ref<compiler::CostBook>>(std::move(book));
  };
  // The book is beside what rehearsals and runs hold, as settings are: a run
  // that measures has the figures of one that reads.
  const auto apart = memory::Domain::create({.name = "costs"});
  const memory::UseDomain use(*apart);
  if (settings.costs == "table") {
    return ExitCode::kOk;
  }
  if (settings.costs == "measure") {
    if (!settings.plan.empty()) {
      return fail(ExitCode::kUsage,
                  "--plan: the costs that a plan was found with have to be "
                  "kept, too: give --costs a file");
    }
    settings.book = shared(compiler::CostBook::make());
    return ExitCode::kOk;
  }
  try {
    settings.book = shared(compiler::CostBook::open(settings.costs));
  } catch (const IoError& error) {
    return fail(ExitCode::kData, std::string("--") + error.what());
  }
  return ExitCode::kOk;
}

Result<WithinBudget> meet_budget(const TrainSettings& settings) {
  const auto all_kept = rehearse(settings, settings.batch);
  if (!all_kept) {
    return tl::unexpected(all_kept.error());
  }
  WithinBudget out{.all_kept = *all_kept, .rehearsal = *all_kept};
  if (fits(settings, *all_kept)) {
    return out;
  }
  out.why_not = too_little(*all_kept);
  Result<void> done;
  if (settings.compile) {
    done = ArenaSearch(settings, out).run();
    if (done) {
      done = try_states(settings, out);
    }
  }
  return done.map([&] { return out; });
}

std::string refusal_of(const TrainSettings& settings, const WithinBudget& found,
                       std::optional<std::int64_t> max_batch) {
  const Rehearsal& kept = found.all_kept;
  Refusal refusal(settings);
  refusal
      .add("needed", needed_by(settings, kept.peak + kept.external,
                               "with all values kept"))
      .add("why", found.why_not);
  if (!settings.spill.empty() && keeps_in_memory(settings)) {
    refusal.add("", "--ema and --eval-every keep weights and state in memory");
  }
  if (max_batch) {
    refusal.add_batch(*max_batch);
    for (const Remedy& remedy : settings.compile
                                    ? remedies_for(settings, *max_batch)
                                    : std::vector<Remedy>()) {
      refusal.add("or", fmt::format("{}: extra time {:+.1f} %{}", remedy.change,
                                    remedy.percent, remedy.note));
    }
    refusal.add_curve(settings);
  }
  return refusal.text();
}

ExitCode refuse_budget(const TrainSettings& settings, const WithinBudget& found,
                       std::optional<std::int64_t> max_batch) {
  write_failure(refusal_of(settings, found, max_batch));
  return ExitCode::kMemory;
}

Result<std::int64_t> largest_batch(const TrainSettings& s, Bytes external) {
  return BatchSearch(s, external).run();
}

namespace {

// Adds the need of a run without a plan, and of a run with one.
Result<void> add_enough(const TrainSettings& settings, Refusal& refusal) {
  if (!settings.compile) {
    if (const auto eager = eager_need(settings); !eager) {
      return tl::unexpected(eager.error());
    } else if (*eager > settings.budget) {
      refusal.add("enough", needed_by(settings, *eager, "for an eager run"));
    }
  }
  TrainSettings compiled = settings;
  compiled.compile = true;
  const auto found = meet_budget(compiled);
  if (!found) {
    return tl::unexpected(found.error());
  }
  if (!settings.compile && found->is_met()) {
    const compiler::Fitting& fitting = found->rehearsal.fitting;
    refusal.add("compiled",
                fmt::format("the run fits without --eager, {:.1f} % extra time",
                            fitting.percent(fitting.extra)));
    return {};
  }
  const Rehearsal& kept = found->all_kept;
  if (const Bytes need = kept.peak + kept.external; need > settings.budget) {
    refusal.add("compiled", needed_by(settings, need, "with all values kept"));
  }
  return largest_batch(compiled, kept.external).map([&](std::int64_t most) {
    refusal.add_batch(most).add_curve(settings);
  });
}

}  // namespace

std::string refusal_of(const TrainSettings& settings,
                       const OutOfMemory& error) {
  const OutOfMemory::Details& asked = error.details();
  Refusal refusal(settings);
  refusal
      .add("asked for", fmt::format("{}, for {}", format_bytes(asked.requested),
                                    memory::name_of(asked.tag.category)))
      .add("held", fmt::format("{}, and {} the process itself",
                               format_bytes_short(asked.held),
                               format_bytes_short(asked.external)));
  if (const Bytes shown = view_reserve(settings); shown != 0) {
    refusal.add("of it", fmt::format("{} for --page, --snapshot, --trace, "
                                     "--profile",
                                     format_bytes_short(shown)));
  }
  if (const auto precision = precision_of(settings)) {
    const UsePrecision use(*precision);
    static_cast<void>(add_enough(settings, refusal));
  }
  return refusal.text();
}

}  // namespace neap::app
