// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/metrics.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "neap/base/append.hpp"
#include "neap/base/json_string.hpp"
#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/formats/tensorboard.hpp"
#include "neap/memory/domain.hpp"
#include "neap/train/log_file.hpp"

namespace neap::train {
namespace {

// A number under its two names.
struct Field {
  std::string_view key;  // of JSON
  std::string_view tag;  // of TensorBoard; empty: not written there
  double value = 0.0;
  bool is_measured = true;
};

void check(const MetricsOptions& options) {
  if (options.every < 1) {
    base::raise<ValueError>("metrics: every {} steps, expected at least 1",
                            options.every);
  }
}

double wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void append_text(memory::Vector<std::byte>& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_json_number(memory::Vector<std::byte>& out, const Field& field) {
  if (!field.is_measured || !std::isfinite(field.value)) {
    append_text(out, "null");
    return;
  }
  // The shortest digits that read back as the same number.
  std::array<char, 32> digits{};
  append_text(out,
              {digits.data(), base::format_into(digits, "{}", field.value)});
}

void append_line(memory::Vector<std::byte>& out,
                 std::span<const Field> fields) {
  std::string_view before = "{";
  for (const Field& field : fields) {
    append_text(out, before);
    base::append_json_string(out, field.key);
    append_text(out, ":");
    append_json_number(out, field);
    before = ",";
  }
  append_text(out, "}\n");
}

Result<LogFile> open_lines(files::Door& door, const std::string& path) {
  if (path.empty()) {
    return LogFile();
  }
  // A partial line that a killed run left must not swallow ours.
  bool is_cut = false;
  const auto facts = door.inspect(path);
  if (facts && facts->kind == files::PathKind::kFile) {
    auto old = door.open_read(path);
    const auto size = old ? old->size() : tl::unexpected(old.error());
    std::array<std::byte, 1> last{};
    const auto read = size && *size > 0 ? old->read_at(*size - 1, last) : size;
    if (!read) {
      return tl::unexpected(read.error());
    }
    is_cut = *read == 1 && last[0] != std::byte{'\n'};
  }
  return door.open_append(path).map([&](files::File&& file) {
    LogFile log(std::move(file));
    if (is_cut) {
      append_text(log.buffer(), "\n");
    }
    return log;
  });
}

// A name that no other log has: TensorBoard looks for "tfevents" in it.
Result<std::string> event_path(files::Door& door, const std::string& folder) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '-';
  }
  const auto seconds = static_cast<std::int64_t>(wall_time());
  for (int number = 0;; ++number) {
    std::string path = fmt::format("{}/events.out.tfevents.{}.{}.{}.{}", folder,
                                   seconds, host.data(), ::getpid(), number);
    const auto is_there = door.exists(path);
    if (!is_there) {
      return tl::unexpected(is_there.error());
    }
    if (!*is_there) {
      return path;
    }
  }
}

Result<LogFile> open_events(files::Door& door, const std::string& folder) {
  if (folder.empty()) {
    return LogFile();
  }
  return door.make_directory(folder)
      .and_then([&] { return event_path(door, folder); })
      .and_then([&](std::string&& path) { return door.open_write(path); })
      .and_then([&](files::File&& file) -> Result<LogFile> {
        LogFile log(std::move(file));
        formats::append_version_event(log.buffer(), wall_time());
        // At once: TensorBoard shows a run that has begun.
        return log.flush().map([&] { return std::move(log); });
      });
}

}  // namespace

class MetricsLog::State {
 public:
  State(const MetricsOptions& options, LogFile lines, LogFile events)
      : every_(options.every),
        flush_after_(options.flush_seconds),
        domain_(&memory::domain()),
        lines_(std::move(lines)),
        events_(std::move(events)) {}

  bool is_due(std::int64_t step) const noexcept { return step % every_ == 0; }
  memory::Stats memory() const { return domain_->stats(); }
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  // Fields [0] is the step.
  Result<void> put(std::int64_t step, std::span<const Field> fields) {
    if (lines_.is_open()) {
      append_line(lines_.buffer(), fields);
    }
    if (events_.is_open()) {
      put_events(step, fields);
    }
    const auto now = Clock::now();
    const std::chrono::duration<double> age = now - flushed_;
    if (age.count() >= flush_after_) {
      flushed_ = now;
      return both(&LogFile::flush);
    }
    return both(&LogFile::flush_if_full);
  }

  // Calls `act` on both files, whatever happens; keeps the first failure.
  Result<void> both(Result<void> (LogFile::*act)()) {
    auto of_lines = (lines_.*act)();
    auto of_events = (events_.*act)();
    Result<void>& told = of_lines ? of_events : of_lines;
    if (!told && !failure_) {
      failure_ = told.error();
    }
    return std::move(told);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void put_events(std::int64_t step, std::span<const Field> fields) {
    std::array<formats::Scalar, 12> scalars{};
    std::size_t count = 0;
    for (const Field& field : fields) {
      if (!field.tag.empty() && field.is_measured) {
        scalars[count++] = {field.tag, field.value};
      }
    }
    formats::append_scalars(events_.buffer(), wall_time(), step,
                            std::span(scalars).first(count));
  }

  std::int64_t every_;
  double flush_after_;
  const memory::Domain* domain_;
  LogFile lines_;
  LogFile events_;
  Clock::time_point flushed_ = Clock::now();
  std::optional<Failure> failure_;
};

MetricsLog::MetricsLog(memory::Owned<State> state) : state_(std::move(state)) {}
MetricsLog::MetricsLog(MetricsLog&&) noexcept = default;
MetricsLog& MetricsLog::operator=(MetricsLog&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

MetricsLog::~MetricsLog() {
  if (state_) {
    try {
      static_cast<void>(state_->both(&LogFile::close));
    } catch (...) {  // no memory for a message that nobody reads
    }
  }
}

MetricsLog MetricsLog::rehearse(const MetricsOptions& options) {
  check(options);
  const auto log = [](const std::string& path) {
    return path.empty() ? LogFile() : LogFile::unwritten();
  };
  return MetricsLog(memory::make_owned<State>(memory::Category::kOther, options,
                                              log(options.jsonl),
                                              log(options.tensorboard)));
}

Result<MetricsLog> MetricsLog::open(files::Door& door,
                                    const MetricsOptions& options) {
  check(options);
  return open_lines(door, options.jsonl).and_then([&](LogFile&& lines) {
    return open_events(door, options.tensorboard).map([&](LogFile&& events) {
      return MetricsLog(memory::make_owned<State>(memory::Category::kOther,
                                                  options, std::move(lines),
                                                  std::move(events)));
    });
  });
}

MetricsLog::State& MetricsLog::state() const {
  if (!state_) {
    base::raise<UseAfterRelease>("metrics: log used after it was moved from");
  }
  return *state_;
}

Result<void> MetricsLog::step(const StepReport& report) {
  State& log = state();
  if (!log.is_due(report.step)) {
    return {};
  }
  const memory::Stats memory = log.memory();
  const auto number = [](auto value) { return static_cast<double>(value); };
  const double rate =
      report.seconds > 0.0 ? number(report.samples) / report.seconds : 0.0;
  const bool has_norm = report.gradient_norm != 0.0;
  const std::array<Field, 10> fields{{
      {"step", "", number(report.step)},
      {"epoch", "train/epoch", number(report.epoch)},
      {"loss", "train/loss", report.loss},
      {"accuracy", "train/accuracy", report.accuracy},
      {"learning_rate", "train/learning_rate", report.learning_rate},
      {"gradient_norm", "train/gradient_norm", report.gradient_norm, has_norm},
      {"seconds", "train/seconds", report.seconds},
      {"samples_per_second", "train/samples_per_second", rate},
      {"live_bytes", "memory/live_bytes", number(memory.live)},
      {"held_bytes", "memory/held_bytes", number(memory.held)},
  }};
  return log.put(report.step, fields);
}

Result<void> MetricsLog::evaluation(std::int64_t step, std::string_view part,
                                    const Evaluation& evaluation) {
  const auto name = [&](char joint, std::string_view what) {
    return fmt::format("{}{}{}", part, joint, what);
  };
  const std::array<std::string, 4> names = {
      name('_', "loss"), name('/', "loss"), name('_', "accuracy"),
      name('/', "accuracy")};
  const std::array<Field, 3> fields{{
      {"step", "", static_cast<double>(step)},
      {names[0], names[1], evaluation.loss},
      {names[2], names[3], evaluation.accuracy},
  }};
  return state().put(step, fields);
}

Result<void> MetricsLog::scalar(std::int64_t step, std::string_view name,
                                double value) {
  const std::array<Field, 2> fields{{
      {"step", "", static_cast<double>(step)},
      {name, name, value},
  }};
  return state().put(step, fields);
}

Result<void> MetricsLog::flush() {
  return state().both(&LogFile::flush);
}

Result<void> MetricsLog::close() {
  return state().both(&LogFile::close);
}

const std::optional<Failure>& MetricsLog::failure() const {
  base::tell_of_question("failure", "whether writing a log has failed", {});
  return state().failure();
}

}  // namespace neap::train
