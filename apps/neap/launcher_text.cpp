// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "launcher_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "exit_code.hpp"
#include "numbers.hpp"

namespace neap::app {
namespace {

// A cause of a greater strength takes the place of another: mpirun knows who
// was ended, and a rank that waited only who did not answer.
constexpr int kWaited = 1;
constexpr int kEnded = 2;

std::string_view after(std::string_view line, std::string_view what) {
  const std::size_t at = line.find(what);
  return at == std::string_view::npos ? std::string_view()
                                      : line.substr(at + what.size());
}

// The whole number that a text begins with; -1: none.
int number_at(std::string_view text) {
  const std::size_t end =
      std::min(text.find_first_not_of("0123456789"), text.size());
  int value = -1;
  return parse_number(text.substr(0, end), value) ? value : -1;
}

}  // namespace

void LauncherText::note(int strength, std::string cause) {
  if (strength > strength_) {
    strength_ = strength;
    cause_ = std::move(cause);
  }
}

void LauncherText::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    line_ +=
        part.substr(0, kLongestLine - std::min(kLongestLine, line_.size()));
    if (end == std::string_view::npos) {
      return;
    }
    take_line(line_);
    line_.clear();
    bytes.remove_prefix(end + 1);
  }
}

void LauncherText::take_line(std::string_view line) {
  // Open MPI: "mpirun noticed that process rank 1 with PID 7 on node a exited
  // on signal 9 (Killed)."
  const int killed = number_at(after(line, "noticed that process rank "));
  const int signal = number_at(after(line, "exited on signal "));
  if (killed >= 0 && signal > 0) {
    note(kEnded, fmt::format("rank {} was ended by signal {} ({})", killed,
                             signal, ::strsignal(signal)));
  }
  // "  Process name: [[16248,1],1]", and then "  Exit code:    42".
  if (const auto name = after(line, "Process name: [["); !name.empty()) {
    rank_ = number_at(after(name, "],"));
  }
  if (auto code = after(line, "Exit code:"); !code.empty() && rank_ >= 0) {
    code.remove_prefix(std::min(code.find_first_not_of(' '), code.size()));
    const int status = number_at(code);
    // A rank that lost another one is not the cause.
    note(status == static_cast<int>(ExitCode::kRanks) ? kWaited : kEnded,
         fmt::format("rank {} ended with status {}", rank_, status));
  }
  if (line.find("lost communication with a remote daemon") !=
      std::string_view::npos) {
    is_host_lost_ = true;
    note(kEnded, "a host was lost");
  }
  // Neap's own: "neap: dist: rank 1 has not answered rank 0 for 3.0 s, ..."
  const auto own = after(line, "neap: dist: ");
  if (own.starts_with("rank ")) {
    const int lost = number_at(own.substr(5));
    const int by = number_at(after(own, " has not answered rank "));
    if (lost >= 0 && by >= 0) {
      note(kWaited, fmt::format("rank {} has not answered rank {}", lost, by));
    }
  }
  if (own.starts_with("not all ranks have joined")) {
    note(kWaited, "not all ranks joined in time");
  }
  is_mismatch_ = is_mismatch_ || own.starts_with("the ranks differ");
}

}  // namespace neap::app
