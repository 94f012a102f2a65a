// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_profile.hpp"

#include "neap/base/raise.hpp"

namespace neap::report {

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
}

}  // namespace neap::report
