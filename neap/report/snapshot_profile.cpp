// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_profile.hpp"

#include <algorithm>
#include <cmath>

#include "neap/base/raise.hpp"
#include "neap/report/snapshot_columns.hpp"

namespace neap::report {
namespace {

constexpr double kLargest = static_cast<double>(kLargestNumber);

std::int64_t rounded(double number) noexcept {
  return std::llround(std::clamp(number, 0.0, kLargest));
}

// After the limits were rounded: so a reader gets the same shares from them.
void add_shares(Snapshot& snapshot) {
  const compiler::MachineLimits limits = limits_of(snapshot);
  for (Snapshot::Call& call : snapshot.calls) {
    const double percent =
        compiler::share_of(limits, std::max<std::int64_t>(call.flops, 0),
                           std::max<Bytes>(call.moved, 0), call.ns);
    call.share = percent < 0.0 ? -1 : rounded(10.0 * percent);
  }
}

}  // namespace

compiler::MachineLimits limits_of(const Snapshot& s) noexcept {
  const compiler::MachineLimits limits{
      .flops = static_cast<double>(s.sums.flops_a_second),
      .bytes = static_cast<double>(s.sums.bytes_a_second)};
  return limits.are_known() ? limits : compiler::MachineLimits();
}

void add_times(Snapshot& snapshot, const compiler::Profile& profile) {
  std::uint64_t work = 0;
  for (const Snapshot::Call& call : snapshot.calls) {
    work = compiler::work_digest(work, snapshot.text(call.op), call.flops,
                                 call.moved);
  }
  if (profile.ns.size() != snapshot.calls.size() || profile.work != work) {
    base::raise<ValueError>(
        "snapshot: its {} calls are others than the {} that times were taken "
        "of; take both of the same program",
        snapshot.calls.size(), profile.ns.size());
  }
  for (std::size_t i = 0; i < profile.ns.size(); ++i) {
    snapshot.calls[i].ns = profile.ns[i];
  }
  const bool has_limits = profile.limits.are_known();
  snapshot.sums.flops_a_second =
      has_limits ? rounded(profile.limits.flops) : -1;
  snapshot.sums.bytes_a_second =
      has_limits ? rounded(profile.limits.bytes) : -1;
  add_shares(snapshot);
}

}  // namespace neap::report
