// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "view_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/external.hpp"
#include "neap/memory/context.hpp"
#include "neap/program/program.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/page.hpp"
#include "neap/report/snapshot_file.hpp"
#include "neap/report/snapshot_lines.hpp"
#include "neap/report/snapshot_step.hpp"
#include "neap/report/trace.hpp"

namespace neap::app {

std::array<NamedFile, 3> view_files(const TrainSettings& s) {
  return {
      {{"--page", s.page}, {"--snapshot", s.snapshot}, {"--trace", s.trace}}};
}

bool has_views(const TrainSettings& settings) {
  const auto files = view_files(settings);
  return std::any_of(files.begin(), files.end(),
                     [](const NamedFile& file) { return !file.path.empty(); });
}

Bytes view_reserve(const TrainSettings& s) {
  const bool is_shown = has_views(s) || s.profile;
  return is_shown && s.budget != kUnlimited ? kViewBytes : 0;
}

ViewReserve::ViewReserve(const TrainSettings& s) : bytes_(view_reserve(s)) {
  base::add_external("what is shown of the plan", bytes_);
}

ViewReserve::~ViewReserve() {
  base::add_external("what is shown of the plan", -bytes_);
}

bool is_within_view(const compiler::Program& program) {
  // A block, its place in the making, its reads; and the files' buffers.
  constexpr std::size_t kOfEach = 512;
  constexpr std::size_t kBeside = kMiB;
  return kOfEach * (program.values.size() + program.calls.size()) + kBeside <=
         std::size_t{kViewBytes};
}

report::Snapshot view_of(const TrainSettings& s,
                         const compiler::Program& program,
                         const compiler::Plan& plan,
                         const memory::Domain& domain) {
  report::Snapshot snapshot = report::snapshot(program, plan, &domain);
  snapshot.title =
      fmt::format("{}, batch {}, {}", s.model, s.batch, s.optimizer);
  snapshot.sums.budget = s.budget == kUnlimited ? -1 : s.budget;
  if (s.no_lines) {
    const memory::UseDomain use(report::report_domain());
    report::drop_lines(snapshot);
  }
  return snapshot;
}

Result<void> write_views(files::Door& door, const TrainSettings& s,
                         const report::Snapshot& snapshot) {
  Result<void> done;
  if (!s.snapshot.empty()) {
    done = report::write_snapshot(door, s.snapshot, snapshot);
  }
  if (done && !s.page.empty()) {
    done = report::write_page(door, s.page, snapshot);
  }
  if (done && !s.trace.empty()) {
    done = report::write_trace(door, s.trace, snapshot);
  }
  return done;
}

}  // namespace neap::app
