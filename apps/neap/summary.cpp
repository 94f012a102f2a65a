// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "summary.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "json_rows.hpp"
#include "neap/base/shown.hpp"
#include "text_file.hpp"

namespace neap::app {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace

std::string to_json(const Summary& s) {
  const Json json = {
      {"test_accuracy", or_null(s.test_accuracy)},
      {"test_loss", s.test_loss ? finite_or_null(*s.test_loss) : Json(nullptr)},
      {"train_loss", finite_or_null(s.train_loss)},
      {"steps", s.steps},
      {"resumed_steps", s.resumed_steps},
      {"interrupted", s.is_interrupted},
      {"checkpoint", s.checkpoint.empty() ? Json(nullptr) : Json(s.checkpoint)},
      {"step_ms_median", or_null(s.step_ms_median)},
      {"images_per_second", finite_or_null(s.images_per_second)},
      {"compiled", s.is_compiled},
      {"arena_bytes", s.arena_bytes},
      {"predicted_peak_bytes",
       s.predicted_peak_bytes ? Json(*s.predicted_peak_bytes) : Json(nullptr)},
      {"peak_bytes", s.stats.peak},
      {"peak_live_bytes", s.stats.live_peak},
      {"peak_by_category", object_of(s.peak_by_category)},
      {"peak_by_owner", object_of(s.peak_by_owner)},
      {"live_bytes_at_exit", s.live_bytes_at_exit},
      {"heap_calls_per_step", or_null(s.heap_calls_per_step)},
      {"page_faults_per_step", or_null(s.page_faults_per_step)},
      {"max_rss_bytes", s.max_rss_bytes},
      {"external_bytes", s.external},
      {"data_set_bytes", s.data_set_bytes},
      {"state_hash", fmt::format("{:016x}", s.state_hash)},
      {"seed", s.seed},
      {"threads", s.threads},
      {"isa", s.isa},
      {"dtype", s.dtype},
      {"kernels", s.kernels},
      {"version", s.version},
  };
  // The name of a file is bytes of any kind.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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

Result<void> write_json(files::Door& door, const std::string& path,
                        const Summary& summary) {
  const std::string text = to_json(summary);
  if (path == "-") {
    const std::size_t written =
        std::fwrite(text.data(), 1, text.size(), stdout);
    return written == text.size() && std::fflush(stdout) == 0
               ? Result<void>()
               : failure(FailureKind::kIo,
                         "standard output: the summary could not be written");
  }
  return write_text(door, path, text);
}

}  // namespace neap::app
