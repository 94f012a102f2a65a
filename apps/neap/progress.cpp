// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "neap/base/append.hpp"

namespace neap::app {
namespace {

constexpr int kBarWidth = 24;
constexpr std::int64_t kPlainLinesPerRun = 20;
constexpr auto kRedraw = std::chrono::milliseconds(100);

constexpr double mib(Bytes bytes) noexcept {
  return static_cast<double>(bytes) / static_cast<double>(kMiB);
}

void write_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

Progress::Style Progress::style_of(const std::string& name) {
  if (name == "none") {
    return Style::kNone;
  }
  if (name == "auto") {
    return isatty(STDERR_FILENO) != 0 ? Style::kBar : Style::kPlain;
  }
  return name == "bar" ? Style::kBar : Style::kPlain;
}

void Progress::step(const train::StepReport& report) {
  constexpr double kMemory = 0.01;
  const bool is_first = samples_ == 0;
  const double weight =
      is_first ? 1.0
               : std::max(kMemory, 1.0 / static_cast<double>(report.step));
  loss_ += weight * (report.loss - loss_);
  accuracy_ += weight * (report.accuracy - accuracy_);
  samples_ += report.samples;
  if (style_ != Style::kNone && is_due(report)) {
    draw(report);
  }
}

bool Progress::is_due(const train::StepReport& report) {
  if (report.step == report.steps) {
    return true;
  }
  if (style_ == Style::kPlain) {
    const std::int64_t each =
        std::max<std::int64_t>(1, report.steps / kPlainLinesPerRun);
    return report.step % each == 0;
  }
  const Clock::time_point now = Clock::now();
  if (now - drawn_ < kRedraw) {
    return false;
  }
  drawn_ = now;
  return true;
}

void Progress::draw(const train::StepReport& report) {
  std::array<char, 256> line;
  char* out = line.data();
  char* const end = line.data() + line.size() - 1;
  const auto put = [&]<class... Args>(fmt::format_string<Args...> format,
                                      Args&&... args) {
    const std::span<char> room(out, end);
    out +=
        std::min(base::format_into(room, format, std::forward<Args>(args)...),
                 room.size());
  };
  const double done =
      static_cast<double>(report.step) /
      static_cast<double>(std::max<std::int64_t>(report.steps, 1));
  const double seconds =
      std::chrono::duration<double>(Clock::now() - start_).count();
  const memory::Stats stats = domain_->stats();
  if (style_ == Style::kBar) {
    const int filled = static_cast<int>(done * kBarWidth);
    put("\r[{:=<{}}{:<{}}]", "", filled, "", kBarWidth - filled);
  }
  put(" {:3.0f}%  epoch {}/{}  step {:>{}}/{}", done * 100.0, report.epoch,
      report.epochs, report.step, fmt::formatted_size("{}", report.steps),
      report.steps);
  put("  loss {:6.4f}", loss_);
  if (!std::isnan(accuracy_)) {
    put("  acc {:5.1f}%", accuracy_ * 100.0);
  }
  put("  {:6.0f} samples/s",
      static_cast<double>(samples_) / std::max(seconds, 1e-9));
  put("  live {:.1f} MiB  peak {:.1f} MiB", mib(stats.live), mib(stats.peak));
  if (style_ == Style::kPlain) {
    put("\n");
  }
  write_out({line.data(), static_cast<std::size_t>(out - line.data())});
  std::fflush(stderr);
  has_line_ = style_ == Style::kBar;
}

void Progress::finish() {
  if (has_line_) {
    write_out("\n");
    has_line_ = false;
  }
}

}  // namespace neap::app
