// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "run_text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <utility>

#include "neap/base/bytes.hpp"

namespace neap::app {
namespace {

template <class... Args>
void add(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string format_figure(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "not counted here";
}

// "(8.55 ms a step, 12235 samples/s)", of what was done.
std::string format_speed(const Summary& s) {
  if (s.steps == s.resumed_steps) {
    return "(none was left to do)";
  }
  const std::string step =
      s.step_ms_median ? fmt::format("{:.2f} ms a step, ", *s.step_ms_median)
                       : std::string();
  return fmt::format("({}{:.0f} samples/s)", step, s.images_per_second);
}

}  // namespace

std::string shown_dtype(const std::string& dtype) {
  return dtype == "f32" ? "" : "products in " + dtype + ", ";
}

std::string run_text(const Summary& s, const std::string& table) {
  std::string out;
  add(out, "\ntest ");
  if (s.test_accuracy) {
    add(out, "accuracy {:.2f} %, ", *s.test_accuracy * 100.0);
  }
  const std::string loss =
      s.test_loss ? fmt::format("{:.4f}", *s.test_loss) : "none";
  add(out, "loss {}, after {} steps {}\n", loss, format_grouped(s.steps),
      format_speed(s));
  add(out, "\nmemory at the high-water mark of live bytes\n{}\n", table);
  add(out, "live at most  {}\n", format_bytes(s.stats.live_peak));
  add(out, "held at most  {}\n", format_bytes(s.stats.peak));
  if (s.predicted_peak_bytes) {
    add(out, "predicted     {}  (before the first step)\n",
        format_bytes(*s.predicted_peak_bytes));
  }
  for (std::size_t r = 0; r < s.ranks.size(); ++r) {
    const Summary::Rank& rank = s.ranks[r];
    add(out, "rank {:<8} held at most {}, sent {}, received {}\n", r,
        format_bytes_short(rank.peak), format_bytes_short(rank.sent),
        format_bytes_short(rank.received));
  }
  add(out, "idle pages    {}  (held for reuse at the end of training)\n",
      format_bytes(s.stats.idle));
  add(out, "external      {}  (code, libraries, stacks)\n",
      format_bytes(s.external));
  add(out, "resident      {}\n", format_bytes(s.max_rss_bytes));
  add(out, "a step        heap calls {}, page faults {}\n",
      format_figure(s.heap_calls_per_step),
      format_figure(s.page_faults_per_step));
  add(out, "state hash    {:016x}  (seed {}, {}, {}kernels {})\n", s.state_hash,
      s.seed, s.isa, shown_dtype(s.dtype), s.kernels);
  add(out, "live at exit: {}\n", format_bytes(s.live_bytes_at_exit));
  return out;
}

}  // namespace neap::app
