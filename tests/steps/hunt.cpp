// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "hunt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace neap::steps {
namespace {

std::atomic<std::uint64_t>& running_seed() noexcept {
  static std::atomic<std::uint64_t> seed{0};
  return seed;
}

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

Fault shrunk_fault(const StepProgram& program, const Verdict& verdict) {
  Fault fault;
  fault.seed = program.seed;
  fault.shrunk = shrink(program, [&](const StepProgram& smaller) {
    return !first_throw(smaller) && judge(smaller).fault == verdict.fault;
  });
  fault.verdict = judge(fault.shrunk);
  fault.name = class_of(fault.shrunk, fault.verdict);
  return fault;
}

void note(Findings& findings, Fault fault) {
  const auto same =
      std::find_if(findings.found.begin(), findings.found.end(),
                   [&](const Fault& f) { return f.name == fault.name; });
  if (same == findings.found.end()) {
    fault.programs = findings.programs;
    findings.found.push_back(std::move(fault));
    return;
  }
  ++same->count;
}

}  // namespace

std::uint64_t current_seed() noexcept {
  return running_seed();
}

Findings hunt(const Hunt& what) {
  const Clock clock;
  Findings findings;
  while (findings.programs < what.programs && clock.seconds() < what.seconds) {
    const std::uint64_t seed =
        what.first + static_cast<std::uint64_t>(findings.programs);
    running_seed() = seed;
    const StepProgram program = generate(seed, what.themes);
    const Verdict verdict = judge(program);
    ++findings.programs;
    findings.calls += verdict.calls;
    findings.refused += verdict.refused;
    for (const auto& [kind, count] : verdict.refusals) {
      findings.refusals[kind] += count;
    }
    for (const auto& [type, count] : verdict.thrown) {
      findings.thrown[type] += count;
    }
    if (!verdict.is_good()) {
      ++findings.faults;
      const double seconds = clock.seconds();
      Fault fault = shrunk_fault(program, verdict);
      fault.seconds = seconds;
      note(findings, std::move(fault));
      if (!what.all) {
        break;
      }
    }
  }
  findings.seconds = clock.seconds();
  running_seed() = 0;
  return findings;
}

std::string to_text(const Fault& fault) {
  return fmt::format(
      "== {}: seed {}, after {} programs and {:.1f} s, met {} times\n{}{}\n",
      fault.name, fault.seed, fault.programs, fault.seconds, fault.count,
      to_text(fault.shrunk), to_text(fault.verdict));
}

std::string to_text(const Findings& findings) {
  std::string text;
  for (const Fault& fault : findings.found) {
    text += to_text(fault) + '\n';
  }
  text += fmt::format(
      "{} programs in {:.1f} s: {} calls, {} refused ({:.1f} %), {} programs "
      "with a fault, {} classes\n",
      findings.programs, findings.seconds, findings.calls, findings.refused,
      100.0 * static_cast<double>(findings.refused) /
          static_cast<double>(std::max<std::int64_t>(findings.calls, 1)),
      findings.faults, findings.found.size());
  for (const auto& [kind, count] : findings.refusals) {
    text += fmt::format("{:8} {}\n", count, kind);
  }
  for (const auto& [type, count] : findings.thrown) {
    text += fmt::format("{:8} thrown by both: {}\n", count, type);
  }
  return text;
}

}  // namespace neap::steps
