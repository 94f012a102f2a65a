// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A run of several ranks, which mpirun or srun started, or which are planned.
#pragma once

#include <memory>
#include <vector>

#include "exit_code.hpp"
#include "neap/base/result.hpp"
#include "neap/data/loader.hpp"
#include "neap/dist/group.hpp"
#include "neap/dist/traffic.hpp"
#include "settings.hpp"
#include "summary.hpp"

namespace neap::app {

/// The group that the launcher started, of one rank where there is none: the
/// settings become those of this rank. Ranks but the first are silent, and
/// write no files. THROWS: DistError.
dist::Group join_ranks(TrainSettings& settings);

/// Where ranks, shards and batch do not suit each other.
Result<void> check_ranks(const TrainSettings& settings);

/// Shards that ranks share out: as many as there are ranks, unless the settings
/// say more.
std::int64_t shards_of(const TrainSettings& settings);

/// The batches of a set of so many samples, as this rank reads them. A last
/// batch with fewer samples than shards is left out, whatever the number of
/// ranks.
data::LoaderOptions loader_options(const TrainSettings& settings,
                                   std::int64_t samples);

/// The same settings for a dry run: of this rank alone, which plans for batches
/// of these sizes.
TrainSettings for_dry_run(const TrainSettings& settings,
                          std::vector<std::int64_t> batches);
/// The rows of a batch that this rank has.
std::int64_t own_rows(const TrainSettings& settings, std::int64_t batch);

/// Comparisons of eight bytes between the ranks in a step of a run: those of
/// the compiled step, and the two of any_stop().
inline constexpr int kComparisonsOfStep = dist::kComparisonsOfRun + 2;

/// Whether a run ends with this step, in any of the ranks.
struct Stop {
  bool is_time_up = false;
  bool is_interrupted = false;
};
Stop any_stop(const dist::Group& group, const Stop& mine);

/// Notes what each rank held and sent. THROWS: as dist::Group::gather().
void note_ranks(const TrainSettings& settings, Summary& summary);

/// Runs the command; where it fails in this rank alone the others end, too.
template <class Run>
ExitCode run_on(const dist::Group& group, const Run& run) {
  ExitCode code = ExitCode::kOk;
  try {
    code = run();
  } catch (const RankMismatch& error) {  // in all ranks
    return fail(ExitCode::kRanks, error.what());
  } catch (const DistError& error) {
    code = fail(ExitCode::kRanks, error.what());
  }
  const bool is_good = code == ExitCode::kOk ||
                       code == ExitCode::kInterrupted ||
                       code == ExitCode::kTerminated;
  if (!is_good) {
    group.abort(static_cast<int>(code));
  }
  return code;
}

}  // namespace neap::app
