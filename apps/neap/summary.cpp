// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "summary.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "json_object.hpp"
#include "neap/base/shown.hpp"
#include "text_file.hpp"

namespace neap::app {
namespace {

std::vector<std::pair<std::string, Bytes>> named_bytes(
    const memory::Vector<report::Line>& lines) {
  std::vector<std::pair<std::string, Bytes>> out;
  for (const report::Line& line : lines) {
    out.emplace_back(line.name, line.bytes);
  }
  return out;
}

}  // namespace

void set_peak(const report::Breakdown& peak, Summary& summary) {
  summary.peak_by_category = named_bytes(peak.by_category);
  summary.peak_by_owner = named_bytes(peak.by_owner);
}

namespace {

std::vector<JsonObject> rows_of(const std::vector<Summary::Rank>& ranks) {
  std::vector<JsonObject> out;
  for (const Summary::Rank& rank : ranks) {
    out.emplace_back()
        .add("peak_bytes", rank.peak)
        .add("live_bytes_at_exit", rank.live_at_exit)
        .add("allocations", rank.allocations)
        .add("releases", rank.releases)
        .add("sent_bytes", rank.sent)
        .add("received_bytes", rank.received);
  }
  return out;
}

}  // namespace

std::string to_json(const Summary& s) {
  return JsonObject()
      .add("test_accuracy", s.test_accuracy)
      .add("test_loss", s.test_loss)
      .add("train_loss", s.train_loss)
      .add("steps", s.steps)
      .add("resumed_steps", s.resumed_steps)
      .add("interrupted", s.is_interrupted)
      .add("checkpoint",
           s.checkpoint.empty() ? std::nullopt : std::optional(s.checkpoint))
      .add("ranks", rows_of(s.ranks))
      .add("step_ms_median", s.step_ms_median)
      .add("images_per_second", s.images_per_second)
      .add("compiled", s.is_compiled)
      .add("arena_bytes", s.arena_bytes)
      .add("predicted_peak_bytes", s.predicted_peak_bytes)
      .add("plan_file", s.plan_file)
      .add("calls_again", s.calls_again)
      .add("micro_batches", s.micro_batches)
      .add("time_pieces", s.time_pieces)
      .add("values_spilled", s.values_spilled)
      .add("states_away", s.states_away)
      .add("weights_away", s.weights_away)
      .add("spill_written_bytes", s.spill_written_bytes)
      .add("extra_time_percent", s.extra_time_percent)
      .add("peak_bytes", s.stats.peak)
      .add("peak_live_bytes", s.stats.live_peak)
      .add("peak_by_category", s.peak_by_category)
      .add("peak_by_owner", s.peak_by_owner)
      .add("live_bytes_at_exit", s.live_bytes_at_exit)
      .add("heap_calls_per_step", s.heap_calls_per_step)
      .add("page_faults_per_step", s.page_faults_per_step)
      .add("max_rss_bytes", s.max_rss_bytes)
      .add("external_bytes", s.external)
      .add("data_set_bytes", s.data_set_bytes)
      .add("state_hash", fmt::format("{:016x}", s.state_hash))
      .add("seed", s.seed)
      .add("threads", s.threads)
      .add("isa", s.isa)
      .add("dtype", s.dtype)
      .add("kernels", s.kernels)
      .add("version", s.version)
      .text();
}

Result<void> try_output(files::Door& door, const char* option,
                        const std::string& path) {
  const auto facts = door.inspect(path);
  if (!facts) {
    return tl::make_unexpected(facts.error());
  }
  if (facts->kind == files::PathKind::kDirectory) {
    return failure(FailureKind::kIo,
                   fmt::format("{} {}: a folder; give a file", option,
                               base::shown_path(path)));
  }
  if (facts->kind == files::PathKind::kOther) {
    return {};  // a device or pipe: to open it may be to use it
  }
  const std::string beside = fmt::format("{}.{}.try", facts->target, getpid());
  auto file = door.open_write(beside);
  if (!file) {
    return tl::make_unexpected(file.error());
  }
  return file->close().and_then([&] { return door.remove(beside); });
}

}  // namespace neap::app
