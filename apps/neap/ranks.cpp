// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "join_deadline.hpp"
#include "neap/base/rows_of_ranks.hpp"
#include "neap/dist/init.hpp"
#include "neap/dist/step_ranks.hpp"
#include "neap/memory/context.hpp"
#include "neap/report/ledger_rows.hpp"

namespace neap::app {
namespace {

base::RowsOfRanks rows_of(const TrainSettings& s, std::int64_t batch) {
  return {batch, shards_of(s), s.ranks};
}

// Ranks of this machine, as launchers say.
int local_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                           "SLURM_NTASKS_PER_NODE"}) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (const int count = text != nullptr ? std::atoi(text) : 0; count > 0) {
      return count;
    }
  }
  return 1;
}

dist::Group joined(double timeout) {
  std::optional<JoinDeadline> deadline;
  if (dist::launched_ranks() > 1) {
    deadline.emplace(timeout);
  }
  return dist::init({.deadline = timeout});
}

// The others would say the same once more.
void be_silent(TrainSettings& s) {
  static_cast<void>(std::freopen("/dev/null", "w", stdout));
  s.progress = "none";
  for (std::string* path : {&s.json, &s.page, &s.snapshot, &s.trace, &s.metrics,
                            &s.tensorboard, &s.save_adapter}) {
    path->clear();
  }
}

}  // namespace

std::int64_t shards_of(const TrainSettings& s) {
  return std::max(s.shards, s.ranks);
}

data::LoaderOptions loader_options(const TrainSettings& s,
                                   std::int64_t samples) {
  const std::int64_t shards = shards_of(s);
  const std::int64_t rest = samples % s.batch;
  return {.batch = s.batch,
          .shuffle = true,
          .seed = s.seed,
          .drop_last = shards > 1 && samples > s.batch && rest < shards,
          .prefetch = static_cast<int>(s.prefetch),
          .shards = {.count = shards,
                     .rank = static_cast<int>(s.rank),
                     .ranks = static_cast<int>(s.ranks)}};
}

std::int64_t own_rows(const TrainSettings& s, std::int64_t batch) {
  return rows_of(s, batch).rows_of_rank(s.rank);
}

Result<void> check_ranks(const TrainSettings& s) {
  if (s.ranks == 1 && !s.network.empty()) {
    return failure(FailureKind::kMismatch,
                   "--network: there is one rank, which sends nothing; give "
                   "--ranks");
  }
  if (s.ranks == 1) {
    return {};
  }
  const auto refuse = [](std::string message) {
    return failure(FailureKind::kMismatch, std::move(message));
  };
  const auto ranks = static_cast<std::uint64_t>(s.ranks);
  const auto shards = static_cast<std::uint64_t>(shards_of(s));
  if (!std::has_single_bit(ranks) || !std::has_single_bit(shards)) {
    return refuse(fmt::format(
        "{} ranks and {} shards: both must be powers of two; start {} ranks, "
        "and give --shards {}",
        ranks, shards, std::bit_floor(ranks), std::bit_ceil(shards)));
  }
  if (s.rank >= s.ranks) {
    return refuse(fmt::format("--rank {}: there are {} ranks, counted from 0",
                              s.rank, s.ranks));
  }
  if (s.batch < shards_of(s)) {
    return refuse(fmt::format(
        "--batch {}: each of {} shards needs a sample; take a larger batch",
        s.batch, shards));
  }
  for (const auto& [is_there, name] :
       {std::pair(!s.compile, "--eager"), std::pair(s.paged, "--paged"),
        std::pair(!s.plan.empty(), "--plan"),
        std::pair(!s.metrics.empty() || !s.tensorboard.empty(), "--metrics"),
        std::pair(s.save_seconds > 0.0, "--save-every by time"),
        std::pair(s.zero != 0 && !s.spill.empty(),
                  "--spill beside --zero 1")}) {
    if (is_there) {
      return refuse(
          fmt::format("{}: not with several ranks; leave it out", name));
    }
  }
  return {};
}

dist::Group join_ranks(TrainSettings& s) {
  const memory::UseDomain apart(report::report_domain());  // none of the run's
  const dist::Group group = joined(s.rank_timeout);
  s.ranks = group.ranks();
  s.rank = group.rank();
  s.shards = shards_of(s);
  s.step_ranks = group.for_steps();
  if (s.rank > 0) {
    be_silent(s);
  }
  if (s.ranks > 1 && s.threads == 0) {
    const auto all = static_cast<int>(std::thread::hardware_concurrency());
    s.threads = std::max(1, all / local_ranks());
  }
  return group;
}

Stop any_stop(const dist::Group& group, const Stop& mine) {
  if (group.ranks() == 1) {
    return mine;
  }
  constexpr double kInterrupt = 4096.0;  // more than there are ranks
  const double sum = group.sum(
      (mine.is_time_up ? 1.0 : 0.0) + (mine.is_interrupted ? kInterrupt : 0.0),
      "whether the run ends here");
  return {std::fmod(sum, kInterrupt) != 0.0, sum >= kInterrupt};
}

void note_ranks(const TrainSettings& settings, Summary& summary) {
  const dist::Group group = dist::init({.deadline = settings.rank_timeout});
  if (group.ranks() == 1) {
    return;
  }
  using Rank = Summary::Rank;
  const memory::Stats& stats = summary.stats;
  const dist::GroupCounts counts = group.counts();
  const Rank mine{.peak = stats.peak,
                  .live_at_exit = stats.live,
                  .allocations = stats.allocations,
                  .releases = stats.releases,
                  .sent = counts.sent,
                  .received = counts.received};
  summary.ranks.resize(static_cast<std::size_t>(group.ranks()));
  for (std::int64_t Rank::*const what :
       {&Rank::peak, &Rank::live_at_exit, &Rank::allocations, &Rank::releases,
        &Rank::sent, &Rank::received}) {
    const auto all =
        group.gather(static_cast<double>(mine.*what), "the report");
    for (std::size_t r = 0; r < all.size(); ++r) {
      summary.ranks[r].*what = static_cast<std::int64_t>(all[r]);
    }
  }
}

TrainSettings for_dry_run(const TrainSettings& settings,
                          std::vector<std::int64_t> batches) {
  TrainSettings out = settings;
  if (out.ranks > 1) {
    out.shards = shards_of(out);
    out.step_ranks = dist::planned_ranks(static_cast<int>(out.rank),
                                         static_cast<int>(out.ranks), batches);
  }
  return out;
}

}  // namespace neap::app
