// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/profile_table.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>

#include "neap/base/append.hpp"
#include "neap/ops/ops.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_check.hpp"
#include "neap/report/snapshot_profile.hpp"
#include "neap/report/wording.hpp"
#include "neap/tensor/create.hpp"

namespace neap::report {
namespace {

constexpr std::size_t kMostRows = 14;
constexpr std::size_t kNameWidth = 28;

// Calls of one name.
struct Spent {
  std::int64_t calls = 0;
  std::int64_t ns = 0;
  std::int64_t flops = 0;
  Bytes moved = 0;

  void add(const Spent& more) noexcept {
    calls += more.calls;
    ns += more.ns;
    flops += more.flops;
    moved += more.moved;
  }
};

struct Line {
  std::string_view name;
  Spent spent;
};

using Groups =
    std::map<std::string_view, Spent, std::less<>,
             memory::Allocator<std::pair<const std::string_view, Spent>>>;

memory::Vector<Line> slowest_first(const Groups& groups) {
  memory::Vector<Line> lines;
  for (const auto& [name, spent] : groups) {
    lines.push_back({name, spent});
  }
  std::stable_sort(
      lines.begin(), lines.end(),
      [](const Line& a, const Line& b) { return a.spent.ns > b.spent.ns; });
  return lines;
}

// A number a nanosecond is a billion a second.
double rate(std::int64_t count, std::int64_t ns) noexcept {
  return ns == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(ns);
}

void append_line(memory::String& out, std::string_view name, const Spent& spent,
                 std::int64_t all, const MachineLimits& limits) {
  const memory::String shown =
      fit_name(name.empty() ? std::string_view("(none)") : name, kNameWidth);
  const double share =
      compiler::share_of(limits, spent.flops, spent.moved, spent.ns);
  std::array<char, 8> of_limit{};
  if (share >= 0.0) {
    base::format_into(of_limit, "{:.0f} %", share);
  }
  base::append(out, "{:<{}}{:>6}{:>10.3f}{:>8.1f}{:>9.1f}{:>8.1f}{:>8}\n",
               std::string_view(shown), kNameWidth, spent.calls,
               static_cast<double>(spent.ns) * 1e-6,
               100.0 * rate(spent.ns, all), rate(spent.flops, spent.ns),
               rate(spent.moved, spent.ns), of_limit.data());
}

void append_table(memory::String& out, std::string_view title,
                  const Groups& groups, const MachineLimits& limits) {
  const memory::Vector<Line> lines = slowest_first(groups);
  Spent all;
  for (const Line& line : lines) {
    all.add(line.spent);
  }
  base::append(out, "{:<{}}{:>6}{:>10}{:>8}{:>9}{:>8}{:>8}\n", title,
               kNameWidth, "calls", "ms", "%", "GFLOP/s", "GB/s",
               limits.are_known() ? "limit" : "");
  Spent rest;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i < kMostRows) {
      append_line(out, lines[i].name, lines[i].spent, all.ns, limits);
    } else {
      rest.add(lines[i].spent);
    }
  }
  if (lines.size() > kMostRows) {
    memory::String name;
    base::append(name, "{} more", lines.size() - kMostRows);
    append_line(out, name, rest, all.ns, limits);
  }
  append_line(out, "all", all, all.ns, limits);
}

// The least time of some runs, in seconds.
template <class Run>
double fastest(int runs, const Run& run) {
  using Clock = std::chrono::steady_clock;
  double least = 1e9;
  for (int i = 0; i < runs; ++i) {
    const Clock::time_point before = Clock::now();
    run();
    least = std::min(
        least, std::chrono::duration<double>(Clock::now() - before).count());
  }
  return least;
}

}  // namespace

MachineLimits measure_limits() {
  const memory::UseDomain use(report_domain());
  const NoGrad guard;
  // Short runs: on a busy machine some of them are left alone.
  constexpr std::int64_t kSide = 384;
  constexpr std::int64_t kCopied = 8 * 1024 * 1024;  // floats
  MachineLimits limits;
  {
    const Tensor a = ones({kSide, kSide});
    const double seconds =
        fastest(40, [&] { static_cast<void>(matmul(a, a)); });
    limits.flops = 2.0 * kSide * kSide * kSide / seconds;
  }
  const Tensor from = ones({kCopied});
  const Tensor to = zeros({kCopied});
  limits.bytes = 8.0 * kCopied / fastest(8, [&] { copy_(to, from); });
  return limits;
}

memory::String profile_table(const Snapshot& s) {
  expect_sound(s);
  const memory::UseDomain use(report_domain());
  const MachineLimits limits = limits_of(s);
  Groups ops;
  Groups layers;
  for (const Snapshot::Call& call : s.calls) {
    if (call.ns >= 0) {
      const Spent spent{1, call.ns, std::max<std::int64_t>(call.flops, 0),
                        std::max<Bytes>(call.moved, 0)};
      ops[s.text(call.op)].add(spent);
      layers[s.text(call.layer)].add(spent);
    }
  }
  memory::String out;
  if (!ops.empty()) {
    append_table(out, "op", ops, limits);
    out += '\n';
    append_table(out, "layer", layers, limits);
  }
  return out;
}

}  // namespace neap::report
