// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "remedies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "neap/base/bytes.hpp"
#include "neap/base/error.hpp"
#include "neap/files/io_error.hpp"
#include "ranks.hpp"

namespace neap::app {
namespace {

// The rate of a modest disk, for a file in a folder that is not known yet.
constexpr Bytes kModestRate = 500 * kMiB;

// A search leaves a part of one in so many of a budget open.
constexpr Bytes kLittle = 20;

class Remedies {
 public:
  Remedies(const TrainSettings& settings, std::int64_t kept_batch)
      : settings_(settings), kept_batch_(kept_batch) {}

  std::vector<Remedy> run() {
    price_ = price_of(settings_);
    if (price_ <= 0) {
      return {};
    }
    try_file();
    try_optimizer();
    try_shards();
    try_batches();
    try_budget();
    std::ranges::stable_sort(remedies_, {}, &Remedy::percent);
    return std::move(remedies_);
  }

 private:
  // Nothing where the run does not fit with these settings either.
  static std::optional<Rehearsal> met(const TrainSettings& changed) {
    try {
      const auto found = meet_budget(changed);
      return found && found->is_met() ? std::optional(found->rehearsal)
                                      : std::nullopt;
    } catch (const IoError&) {  // no file can be made here
      return std::nullopt;
    }
  }

  // The predicted nanoseconds of a sample with all values kept; 0: not known.
  static double price_of(const TrainSettings& settings) {
    TrainSettings kept = settings;
    kept.budget = kUnlimited;
    const auto r = rehearse(kept, kept.batch);
    return r ? static_cast<double>(r->fitting.price) /
                   static_cast<double>(kept.batch)
             : 0.0;
  }

  // The predicted time of a sample beside that of the run as it was asked for.
  double extra_of(const Rehearsal& r, const TrainSettings& changed) const {
    const double extra = static_cast<double>(r.fitting.extra) /
                         static_cast<double>(changed.batch);
    return 100.0 * ((price_of(changed) + extra) / price_ - 1.0);
  }

  void try_file() {
    if (!settings_.spill.empty()) {
      return;
    }
    TrainSettings changed = settings_;
    changed.spill.assign(1, '.');  // this folder
    changed.spill_write_rate = kModestRate;
    changed.spill_fetch_rate = kModestRate;
    if (const auto r = met(changed)) {
      add("--spill DIR", *r, changed);
      remedies_.back().note = fmt::format(
          ", {} written a step", format_bytes_short(r->fitting.written));
    }
  }

  void try_optimizer() {
    const std::string_view plain = "sgd";
    if (settings_.optimizer == plain) {
      return;
    }
    TrainSettings changed = settings_;
    changed.optimizer.assign(plain);
    if (const auto r = met(changed)) {
      add("--optimizer sgd", *r, changed);
    }
  }

  // In the fewest parts of a batch, each twice as many; each is a search.
  void try_shards() {
    TrainSettings changed = settings_;
    const std::int64_t most = std::min<std::int64_t>(settings_.batch, 8);
    while (changed.compile && changed.shards * 2 <= most) {
      changed.shards *= 2;
      if (const auto r = met(changed)) {
        add(fmt::format("--shards {}", changed.shards), *r, changed);
        remedies_.back().note = ", with other bits";
        return;
      }
    }
  }

  // Above the batch that fits as it is.
  void try_batches() {
    TrainSettings changed = settings_;
    const std::int64_t least = settings_.ranks > 1 ? shards_of(settings_) : 1;
    const std::int64_t below = std::max(kept_batch_, least - 1);
    for (changed.batch /= 2; changed.batch > below; changed.batch /= 2) {
      if (const auto r = met(changed)) {
        add(fmt::format("--batch {}", changed.batch), *r, changed);
        return;
      }
    }
  }

  // The run with the least arena that does for it, of those that its step has
  // plans for.
  std::optional<Rehearsal> least_run() const {
    const auto curve = fit_curve(settings_, settings_.batch);
    std::size_t left = curve ? curve->size() : 0;
    for (std::size_t skipped = 1; left > 0; skipped *= 2) {
      const auto known = rehearse_in(settings_, (*curve)[left - 1].arena);
      if (!known || *known) {
        return known.value_or(std::nullopt);
      }
      left -= std::min(left, skipped);
    }
    return std::nullopt;
  }

  void try_budget() {
    const std::optional<Rehearsal> least = least_run();
    if (!least) {
      return;
    }
    // A budget of whole MiB leaves more, and may have a cheaper plan.
    TrainSettings changed = settings_;
    changed.budget = base::round_up(least->peak + least->external, kMiB);
    if (const auto r = met(changed)) {
      add(fmt::format("--budget {}MiB", changed.budget / kMiB), *r, changed);
      if (!settings_.spill.empty()) {
        try_less(changed);
      }
    }
  }

  // Weights that are in a file from the start have no curve: the least budget
  // between one that is met and one that is not, to some per cent.
  void try_less(const TrainSettings& enough) {
    TrainSettings changed = enough;
    std::optional<Rehearsal> least;
    Bytes fits = enough.budget;
    Bytes fails = std::max(settings_.budget, kMiB);
    while (fits > fails + fails / kLittle + kMiB) {
      changed.budget = base::round_up(between(fails, fits), kMiB);
      if (auto r = met(changed)) {
        fits = changed.budget;
        least = std::move(r);
      } else {
        fails = changed.budget;
      }
    }
    if (least) {
      changed.budget = fits;
      add(fmt::format("--budget {}MiB", fits / kMiB), *least, changed);
    }
  }

  static Bytes between(Bytes less, Bytes more) {
    return static_cast<Bytes>(
        std::sqrt(static_cast<double>(less) * static_cast<double>(more)));
  }

  void add(std::string change, const Rehearsal& r,
           const TrainSettings& changed) {
    Remedy& made = remedies_.emplace_back();
    made.change = std::move(change);
    made.percent = extra_of(r, changed);
  }

  const TrainSettings& settings_;
  std::int64_t kept_batch_;
  double price_ = 0.0;
  std::vector<Remedy> remedies_;
};

}  // namespace

std::vector<Remedy> remedies_for(const TrainSettings& settings,
                                 std::int64_t kept_batch) {
  return Remedies(settings, kept_batch).run();
}

}  // namespace neap::app
