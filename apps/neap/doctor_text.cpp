// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "doctor_text.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "neap/base/append.hpp"
#include "neap/base/shown.hpp"
#include "neap/report/growth.hpp"
#include "neap/report/snapshot_text.hpp"

namespace neap::app {
namespace {

using report::Snapshot;

constexpr std::string_view kGrowth = "growth: ";
constexpr std::string_view kLeak = "leak: ";
constexpr std::size_t kMostOfLine = 200;
// The steps after which growth is not known yet: those that report::Growth does
// not compare, its warm-up and the first, and fewer than enough after them.
constexpr std::int64_t kNotEnough =
    report::GrowthOptions{}.warm_up + report::Growth::kEnough;

// The ends of steps, as many things.
std::string_view ends_of(Snapshot::StepKind kind) noexcept {
  switch (kind) {
    case Snapshot::StepKind::kCall:
      return "calls of a model";
    case Snapshot::StepKind::kUpdate:
      return "updates by an optimizer";
    default:
      return "calls of the compiled step with the largest arena";
  }
}

std::string_view between_ends_of(Snapshot::StepKind kind) noexcept {
  switch (kind) {
    case Snapshot::StepKind::kCall:
      return "call to call of the model";
    case Snapshot::StepKind::kUpdate:
      return "update to update";
    default:
      return "step to step";
  }
}

bool is_growth(std::string_view text) noexcept {
  return text.starts_with(kGrowth);
}

// The grouped number ("4 000") that `text` has after `head`; 0: none.
std::int64_t number_after(std::string_view text, std::string_view head) {
  std::size_t at = text.find(head);
  if (at == std::string_view::npos) {
    return 0;
  }
  std::int64_t number = 0;
  for (at += head.size(); at < text.size(); ++at) {
    const char c = text[at];
    if (c >= '0' && c <= '9') {
      number = std::min(number, std::int64_t{1} << 53) * 10 + (c - '0');
    } else if (c != ' ') {
      break;
    }
  }
  return number;
}

// Foreign names are in it: each line is shown harmless, and cut.
void append_lines(memory::String& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += "  ";
    out += base::shown(text.substr(0, end), kMostOfLine);
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void append_leaks(memory::String& out, const Snapshot& s) {
  Bytes bytes = 0;
  std::int64_t rows = 0;
  for (const memory::String& text : s.leaks) {
    if (!is_growth(text)) {
      bytes += number_after(text, kLeak);
      ++rows;
    }
  }
  if (rows == 0) {
    out += "leaks: none\n";
    return;
  }
  base::append(out, "leaks: {} in {} row{} still live at the end\n",
               format_bytes(bytes), rows, rows == 1 ? "" : "s");
  for (const memory::String& text : s.leaks) {
    if (!is_growth(text)) {
      append_lines(out, text);
    }
  }
}

void append_growth(memory::String& out, const Snapshot& s) {
  const auto found =
      std::find_if(s.leaks.begin(), s.leaks.end(),
                   [](const memory::String& text) { return is_growth(text); });
  if (found != s.leaks.end()) {
    const std::string_view text = *found;
    const std::int64_t steps = number_after(text, " in ");
    base::append(out, "growth: {} a step\n",
                 format_bytes(number_after(text, kGrowth) /
                              std::max<std::int64_t>(steps, 1)));
    append_lines(out, text.substr(kGrowth.size()));
  } else if (s.steps.empty()) {
    out +=
        "growth: not known, since no compiled step, no optimizer and no model "
        "was called\n";
  } else if (s.sums.compared < report::Growth::kEnough) {
    base::append(out, "growth: not known, since more than {} {} are needed\n",
                 kNotEnough, ends_of(s.sums.step_kind));
  } else {
    base::append(out, "growth: none from {}\n",
                 between_ends_of(s.sums.step_kind));
  }
}

}  // namespace

bool has_leaks(const Snapshot& snapshot) {
  return std::any_of(
      snapshot.leaks.begin(), snapshot.leaks.end(),
      [](const memory::String& text) { return !is_growth(text); });
}

memory::String findings(const Snapshot& snapshot) {
  memory::String out;
  append_leaks(out, snapshot);
  append_growth(out, snapshot);
  if (!snapshot.refusals.empty()) {
    base::append(out, "refusals: {}\n", snapshot.refusals.size());
    for (const memory::String& text : snapshot.refusals) {
      append_lines(out, text);
    }
  }
  out += "\nThe peak of ";
  out += report::to_text(snapshot);
  return out;
}

memory::String why_nothing(int signal) {
  memory::String out;
  if (signal != 0) {
    base::append(out,
                 "it was ended by signal {} ({}), and what it did with its "
                 "memory is written at exit alone",
                 signal, ::strsignal(signal));
    return out;
  }
  out +=
      "it wrote nothing at its end: it does not include neap/neap.hpp, or it "
      "ended by _exit() or quick_exit(), or became another program (exec), "
      "or could not write (it says so above). Include neap/neap.hpp, end by "
      "exit() or a return from main, and run the program itself, not a script "
      "that clears the environment; neap has --page and --snapshot of its own";
  return out;
}

}  // namespace neap::app
