// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/profile.hpp"

#include <algorithm>
#include <chrono>
#include <span>

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

std::uint64_t digest_of(const Program& calls, std::span<const CallCost> costs) {
  std::uint64_t digest = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    digest = work_digest(digest, calls.calls[i].name, costs[i].flops,
                         costs[i].moved);
  }
  return digest;
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

double share_of(const MachineLimits& limits, std::int64_t flops, Bytes moved,
                std::int64_t ns) noexcept {
  if (!limits.are_known() || ns <= 0) {
    return -1.0;
  }
  const double least = std::max(static_cast<double>(flops) / limits.flops,
                                static_cast<double>(moved) / limits.bytes);
  return 100.0 * least * 1e9 / static_cast<double>(ns);
}

memory::Vector<double> Profile::shares(const Program& calls) const {
  const auto costs = costs_of(calls);
  if (costs.size() != ns.size() || digest_of(calls, costs) != work) {
    base::raise<ValueError>(
        "profile: its times are of {} calls, and the program has {}, or others "
        "of that number; ask with the program that the times were taken of",
        ns.size(), costs.size());
  }
  memory::Vector<double> out;
  out.reserve(ns.size());
  for (std::size_t i = 0; i < ns.size(); ++i) {
    out.push_back(share_of(limits, costs[i].flops, costs[i].moved, ns[i]));
  }
  return out;
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
    work = digest_of(calls, costs_of(calls));
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
