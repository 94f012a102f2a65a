// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Summary: what a training run was and did, as JSON for programs and as text
// for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neap/base/result.hpp"
#include "neap/memory/domain.hpp"
#include "neap/report/memory_table.hpp"

namespace neap::files {
class Door;
}

namespace neap::app {

struct Summary {
  std::optional<double> test_accuracy;  // in [0, 1]; none of a text
  std::optional<double> test_loss;      // none without a test part
  double train_loss = 0.0;  // of the last step; NaN where there was none
  struct Rank {             // of several
    Bytes peak = 0;         // held
    Bytes live_at_exit = 0;
    std::int64_t allocations = 0;
    std::int64_t releases = 0;
    Bytes sent = 0;
    Bytes received = 0;
  };
  std::vector<Rank> ranks;  // none: there is one
  std::int64_t steps = 0;
  std::int64_t resumed_steps = 0;  // of these, before this process
  bool is_interrupted = false;
  std::string checkpoint;  // path; empty: none was asked for, or written
  bool is_compiled = false;
  Bytes arena_bytes = 0;                      // 0: not compiled
  std::optional<Bytes> predicted_peak_bytes;  // held; before the first step
  std::optional<std::string> plan_file;       // "taken" or "written"
  std::int64_t calls_again = 0;               // for the budget to be met
  std::int64_t micro_batches = 0;             // 0: the whole batch at once
  std::int64_t time_pieces = 0;               // 0: whole sequences
  std::int64_t values_spilled = 0;            // likewise, in a step
  std::int64_t states_away = 0;               // likewise, between steps
  std::int64_t weights_away = 0;              // likewise
  Bytes spill_written_bytes = 0;              // in a step
  std::optional<double> extra_time_percent;   // of all that; predicted
  std::optional<double> step_ms_median;
  double images_per_second = 0.0;
  memory::Stats stats;  // at the end of training
  Bytes external = 0;   // while training
  std::vector<std::pair<std::string, Bytes>> peak_by_category;
  std::vector<std::pair<std::string, Bytes>> peak_by_owner;
  Bytes live_bytes_at_exit = 0;
  std::optional<double> heap_calls_per_step;
  std::optional<double> page_faults_per_step;
  Bytes max_rss_bytes = 0;
  Bytes data_set_bytes = 0;
  std::uint64_t state_hash = 0;
  std::uint64_t seed = 0;
  int threads = 0;
  std::string isa;
  std::string dtype;
  std::string kernels;
  std::string version;
};

/// Sets the holders of the moment when most was live.
void set_peak(const report::Breakdown& peak, Summary& summary);

std::string to_json(const Summary& summary);

/// Fails where writing the file of an option ("--json") would: for asking
/// before a long run. Leaves no trace.
Result<void> try_output(files::Door& door, const char* option,
                        const std::string& path);

}  // namespace neap::app
