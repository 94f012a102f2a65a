// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/profile.hpp"

#include <algorithm>
#include <chrono>

#include "neap/base/raise.hpp"
#include "neap/compile/costs.hpp"
#include "neap/compile/instructions.hpp"

namespace neap::compiler {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t nanoseconds(Clock::duration time) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

void keep_least(std::int64_t& least, std::int64_t now) noexcept {
  least = least < 0 ? now : std::min(least, now);
}

}  // namespace

void check_runs(const ProfileOptions& options) {
  if (options.runs < 1) {
    base::raise<ValueError>("profile: .runs is {}; it must be at least 1",
                            options.runs);
  }
}

void check_whole(const Profile& profile, const ProfileOptions& options) {
  if (profile.runs != options.runs) {
    base::raise<ValueError>(
        "profile: it has {} of {} runs; the step was traced again meanwhile, "
        "or has a debug mode, in which no times are taken",
        profile.runs, options.runs);
  }
}

std::uint64_t work_digest(std::uint64_t before, std::string_view op,
                          std::int64_t flops, Bytes moved) noexcept {
  constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a's
  std::uint64_t hash = before;
  const auto add = [&](std::uint64_t part) { hash = (hash ^ part) * kPrime; };
  for (const char c : op) {
    add(static_cast<unsigned char>(c));
  }
  add(static_cast<std::uint64_t>(flops) + 1);
  add(static_cast<std::uint64_t>(moved) + 1);
  return hash;
}

bool Profile::accepts(std::uint64_t of, const Program& calls) {
  if (program == 0) {
    const auto costs = costs_of(calls);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      work = work_digest(work, calls.calls[i].name, costs[i].flops,
                         costs[i].moved);
    }
    ns.assign(calls.calls.size(), -1);
    program = of;
  }
  return program == of;
}

void Profile::run(Instructions& instructions, std::size_t& at) {
  std::int64_t sum = 0;
  for (at = 0; at < instructions.size(); ++at) {
    const Clock::time_point before = Clock::now();
    instructions.run_one(at);
    const std::int64_t taken = nanoseconds(Clock::now() - before);
    keep_least(ns[instructions.call(at)], taken);
    sum += taken;
  }
  keep_least(whole, sum);
  ++runs;
}

}  // namespace neap::compiler
