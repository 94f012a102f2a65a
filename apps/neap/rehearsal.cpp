// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "rehearsal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "job.hpp"
#include "neap/compile/arenas.hpp"
#include "neap/compile/prediction.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/report/memory_table.hpp"
#include "neap/train/metrics.hpp"
#include "network.hpp"
#include "ranks.hpp"
#include "run_parts.hpp"
#include "saved_model.hpp"
#include "view_files.hpp"

namespace neap::app {
namespace {

using Clock = std::chrono::steady_clock;

// --- what is reported ------------------------------------------------------

constexpr std::string_view kNoLayer = "(no layer)";

// The layer. A line of source would be one of the tool's own, which made the
// model and calls it.
std::string_view place_of(std::string_view layer) {
  return layer.empty() ? kNoLayer : layer;
}

// Bytes by category and by layer: the ledger's rows, with what lies in the
// arena at its peak in the place of the arena's own row.
class Sums {
 public:
  Sums(const memory::Domain& domain, const compiler::Prediction& said) {
    const auto ledger = report::breakdown(domain, report::Instant::kNow);
    for (const report::Line& line : ledger.by_layer) {
      if (line.name == compiler::kArenaOwner) {
        continue;
      }
      for (std::size_t c = 0; c < line.by_category.size(); ++c) {
        add(line.name, c, line.by_category[c]);
      }
    }
    for (const compiler::PeakLine& line : said.at_peak) {
      add(line.layer, static_cast<std::size_t>(line.category), line.bytes);
    }
    add("(arena, free at its peak)",
        static_cast<std::size_t>(memory::Category::kOther),
        said.arena - said.live_at_peak);
  }

  Rehearsal::Named categories() const {
    Rehearsal::Named named;
    for (std::size_t c = 0; c < by_category_.size(); ++c) {
      named.emplace_back(name_of(static_cast<memory::Category>(c)),
                         by_category_[c]);
    }
    return named;
  }
  Rehearsal::Named layers() const {
    Rehearsal::Named named(by_layer_.begin(), by_layer_.end());
    std::stable_sort(
        named.begin(), named.end(),
        [](const auto& a, const auto& b) { return a.second > b.second; });
    return named;
  }
  Bytes of(memory::Category category) const {
    return by_category_[static_cast<std::size_t>(category)];
  }

 private:
  void add(std::string_view layer, std::size_t category, Bytes bytes) {
    if (bytes != 0) {
      by_category_[category] += bytes;
      by_layer_[std::string(place_of(layer))] += bytes;
    }
  }

  std::array<Bytes, memory::kCategoryCount> by_category_{};
  std::map<std::string, Bytes> by_layer_;
};

Rehearsal::Named lines_of(const compiler::Prediction& said,
                          const compiler::Program& program) {
  Rehearsal::Named lines;
  for (const compiler::PeakLine& line : said.at_peak) {
    lines.emplace_back(
        fmt::format("{:<18} {:<16} {}", line.op,
                    line.value == compiler::kNoValue
                        ? "scratch"
                        : format_shape(program[line.value].spec->shape),
                    place_of(line.layer)),
        line.bytes);
  }
  return lines;
}

Rehearsal describe(Job& job, const memory::Domain& domain) {
  const compiler::Prediction said =
      compiler::predict(job.program(), job.plan());
  const Sums sums(domain, said);
  using memory::Category;
  Rehearsal r;
  r.arena = said.arena;
  r.lower_bound = said.lower_bound;
  r.is_proven = said.is_proven;
  r.persistent = sums.of(Category::kParameters) + sums.of(Category::kBuffers) +
                 sums.of(Category::kOptimizerState);
  r.workspace = said.workspace;
  r.data_set = job.data_set_bytes();
  r.by_category = sums.categories();
  r.by_layer = sums.layers();
  r.live = lines_of(said, job.program());
  r.calls = said.ops;
  r.fitting = said.fitting;
  r.sharding = said.sharding;
  r.state = said.state;
  r.peak_call = said.peak_call;
  if (!said.peak_op.empty()) {
    r.peak_step = said.peak_layer.empty()
                      ? fmt::format("{} outside the layers", said.peak_op)
                      : fmt::format("{} of {}", said.peak_op, said.peak_layer);
  }
  r.parameters = job.model().parameter_count();
  return r;
}

// Runs the job as far as its first step, and saves it.
Result<std::unique_ptr<Job>> run_job(const TrainSettings& settings,
                                     std::int64_t batch) {
  auto job = make_job(settings, batch);
  if (!job) {
    return job;
  }
  if (!settings.resume.empty()) {
    if (auto good = (*job)->resume(settings.resume, verify_of(settings.verify));
        !good) {
      return tl::unexpected(good.error());
    }
  }
  (*job)->prepare();
  if (!settings.save.empty()) {
    (*job)->rehearse_save();
  }
  return job;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A domain without memory, and the run's generator.
class Dry {
 public:
  explicit Dry(const TrainSettings& settings)
      : domain_(memory::Domain::create(
            {.name = "rehearsal", .is_rehearsal = true})),
        generator_(settings.seed),
        use_domain_(*domain_),
        use_generator_(generator_) {}
  memory::Domain& domain() { return *domain_; }
  // Idle pages go as in the run, where the step is limited.
  void keep_budget(const TrainSettings& settings) {
    if (settings.arena_limit != kUnlimited ||
        settings.step_budget != kUnlimited) {
      domain_->set_budget(settings.budget);
    }
  }

 private:
  memory::Domain::Handle domain_;
  Generator generator_;
  UseDomain use_domain_;
  UseGenerator use_generator_;
};

}  // namespace

Result<report::Snapshot> rehearsed_view(const TrainSettings& settings,
                                        std::int64_t batch) {
  Dry dry(settings);
  dry.keep_budget(settings);
  return run_job(settings, batch).map([&](const std::unique_ptr<Job>& job) {
    return view_of(settings, job->program(), job->plan(), dry.domain());
  });
}

Result<FitCurve> fit_curve(const TrainSettings& settings, std::int64_t batch) {
  const Dry dry(settings);
  if (auto good = check_resumed(settings); !good) {
    return tl::unexpected(good.error());
  }
  return make_job(settings, batch).map([](const std::unique_ptr<Job>& job) {
    const compiler::FitCurve found = job->fit_curve();
    return FitCurve(found.begin(), found.end());
  });
}

Result<Bytes> eager_need(TrainSettings settings) {
  settings.compile = false;
  Dry dry(settings);
  memory::Domain& domain = dry.domain();
  const auto job = run_job(settings, settings.batch);
  if (!job) {
    return tl::unexpected(job.error());
  }
  const Bytes peak = domain.stats().peak;
  (*job)->rehearse_test();
  const memory::Stats after = domain.stats();
  return std::max(peak, after.peak) + after.external;
}

Result<Rehearsal> rehearse(const TrainSettings& settings, std::int64_t batch) {
  const auto start = Clock::now();
  Dry dry(settings);
  memory::Domain& domain = dry.domain();
  dry.keep_budget(settings);
  Rehearsal result;
  {
    if (auto good = check_resumed(settings); !good) {
      return tl::unexpected(good.error());
    }
    std::optional<train::MetricsLog> metrics;
    if (const auto options = metrics_of(settings)) {
      metrics = train::MetricsLog::rehearse(*options);
    }
    auto job = run_job(settings, batch);
    if (!job) {
      return tl::unexpected(job.error());
    }
    const memory::Stats stats =
        domain.stats();  // what is said of the run takes memory, too
    result = describe(**job, domain);
    if (!settings.network.empty()) {
      auto network = read_network(files::system_door(), settings.network);
      if (!network) {
        return tl::unexpected(network.error());
      }
      result.traffic =
          dist::traffic_of((*job)->program(), *network, kComparisonsOfStep);
    }
    result.plan_seconds = seconds_since(start);
    (*job)->rehearse_test();
    const memory::Stats after = domain.stats();
    result.peak = std::max(stats.peak, after.peak);
    result.live_peak = std::max(stats.live_peak, after.live_peak);
    result.external = stats.external;  // with a reader of batches
  }
  return result;
}

}  // namespace neap::app
