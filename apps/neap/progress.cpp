// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "neap/base/append.hpp"
#include "terminal.hpp"

namespace neap::app {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr int kUsualWidth = 80;  // of a terminal that does not say
constexpr std::int64_t kPlainLinesPerRun = 20;
constexpr auto kRedraw = std::chrono::milliseconds(100);

constexpr double mib(Bytes bytes) noexcept {
  return static_cast<double>(bytes) / static_cast<double>(kMiB);
}

void write_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// The pieces of a line, from left to right. Those that matter less are left out
// where the terminal is too narrow for all.
class Line {
 public:
  /// `rank`: 0 is the last to be left out.
  template <class... Args>
  void put(int rank, fmt::format_string<Args...> format, Args&&... args) {
    Piece& piece = pieces_[count_++];
    piece.rank = rank;
    piece.size = std::min(
        base::format_into(piece.text, format, std::forward<Args>(args)...),
        piece.text.size());
  }

  /// All of it, ended.
  void write() const {
    for (std::size_t i = 0; i < count_; ++i) {
      write_out(i == 0 ? " " : "  ");
      write_out(pieces_[i].view());
    }
    write_out("\n");
  }

  /// In place of the line before, behind a bar where there is room for one.
  void write_over(int width, double done) const {
    const std::size_t room = static_cast<std::size_t>(width) - 1;
    const int least = least_left_out(room);
    std::size_t used = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      used += pieces_[i].rank < least ? pieces_[i].size + kGap : 0;
    }
    write_out("\r");
    if (least > kBarRank) {
      write_bar(static_cast<int>(std::min(kBarWidth, room - used - 2)), done);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (pieces_[i].rank < least) {
        write_out("  ");
        write_out(pieces_[i].view());
      }
    }
    write_out("\x1b[K");  // what is left of the line before
  }

 private:
  static constexpr std::size_t kGap = 2;
  static constexpr std::size_t kShortestBar = 12;
  static constexpr int kBarRank = 5;
  static constexpr int kRanks = 9;
  struct Piece {
    std::array<char, 48> text{};
    std::size_t size = 0;
    int rank = 0;
    std::string_view view() const { return {text.data(), size}; }
  };

  // The first rank for which there is no room beside all that come before.
  int least_left_out(std::size_t room) const {
    std::size_t used = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      for (std::size_t i = 0; i < count_; ++i) {
        used += pieces_[i].rank == rank ? pieces_[i].size + kGap : 0;
      }
      used += rank == kBarRank ? kShortestBar : 0;
      if (used > room) {
        return rank;
      }
    }
    return kRanks;
  }

  static void write_bar(int width, double done) {
    std::array<char, kBarWidth + 2> bar{};
    const int filled = static_cast<int>(done * width);
    const std::size_t size = base::format_into(bar, "[{:=<{}}{:<{}}]", "",
                                               filled, "", width - filled);
    write_out({bar.data(), std::min(size, bar.size())});
  }

  std::array<Piece, 8> pieces_{};
  std::size_t count_ = 0;
};

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
  const double done =
      static_cast<double>(report.step) /
      static_cast<double>(std::max<std::int64_t>(report.steps, 1));
  const double seconds =
      std::chrono::duration<double>(Clock::now() - start_).count();
  const memory::Stats stats = domain_->stats();
  Line line;
  line.put(0, "{:3.0f}%", done * 100.0);
  line.put(7, "epoch {}/{}", report.epoch, report.epochs);
  line.put(1, "step {:>{}}/{}", report.step,
           fmt::formatted_size("{}", report.steps), report.steps);
  line.put(2, "loss {:6.4f}", loss_);
  if (!std::isnan(accuracy_)) {
    line.put(4, "acc {:5.1f}%", accuracy_ * 100.0);
  }
  line.put(6, "{:6.0f} samples/s",
           static_cast<double>(samples_) / std::max(seconds, 1e-9));
  line.put(8, "live {:.1f} MiB", mib(stats.live));
  line.put(3, "peak {:.1f} MiB", mib(stats.peak));
  if (style_ == Style::kBar) {
    const int width = terminal_width(STDERR_FILENO);
    line.write_over(width > 0 ? width : kUsualWidth, done);
  } else {
    line.write();
  }
  std::fflush(stderr);
  has_line_ = style_ == Style::kBar;
}

void Progress::evaluation(std::int64_t step, const train::Evaluation& found) {
  if (style_ == Style::kNone) {
    return;
  }
  finish();
  Line line;
  line.put(0, "test at step {}:", step);
  line.put(0, "loss {:6.4f}", found.loss);
  if (!std::isnan(found.accuracy)) {
    line.put(0, "acc {:5.1f}%", found.accuracy * 100.0);
  }
  line.write();
  std::fflush(stderr);
}

void Progress::finish() {
  if (has_line_) {
    write_out("\n");
    has_line_ = false;
  }
}

}  // namespace neap::app
