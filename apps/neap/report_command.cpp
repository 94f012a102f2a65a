// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "report_command.hpp"

#include <array>
#include <cstdio>
#include <optional>
#include <vector>

#include "neap/files/door.hpp"
#include "neap/report/folded.hpp"
#include "neap/report/page.hpp"
#include "neap/report/pickle.hpp"
#include "neap/report/picture.hpp"
#include "neap/report/snapshot_diff.hpp"
#include "neap/report/snapshot_file.hpp"
#include "neap/report/snapshot_text.hpp"
#include "neap/report/trace.hpp"
#include "output_files.hpp"

namespace neap::app {
namespace {

using report::Snapshot;
using Write = Result<void> (*)(files::Door&, const std::string&,
                               const Snapshot&);

struct View {
  NamedFile file;
  Write write;
};

std::array<View, 4> views_of(const ReportSettings& s) {
  return {{{{"--pickle", s.pickle}, report::write_pickle},
           {{"--folded", s.folded}, report::write_folded},
           {{"--trace", s.trace}, report::write_trace},
           {{"--svg", s.svg}, report::write_svg}}};
}

Result<void> check_files(files::Door& door, const ReportSettings& s) {
  std::vector<NamedFile> outputs{{"--page", s.page}};
  for (const View& view : views_of(s)) {
    outputs.push_back(view.file);
  }
  const std::array<NamedFile, 2> inputs{
      {{"the snapshot", s.snapshot}, {"the other snapshot", s.other}}};
  return check_distinct(door, outputs, inputs);
}

// A page shows both; the other files, which have room for one, the later.
Result<void> write_files(files::Door& door, const ReportSettings& s,
                         const Snapshot& first, const Snapshot* second) {
  if (!s.page.empty()) {
    if (auto done = report::write_page(door, s.page, first, second); !done) {
      return done;
    }
  }
  for (const View& view : views_of(s)) {
    if (view.file.path.empty()) {
      continue;
    }
    const Snapshot& latest = second != nullptr ? *second : first;
    if (auto done = view.write(door, view.file.path, latest); !done) {
      return done;
    }
  }
  return {};
}

memory::String text_of(const ReportSettings& s, const Snapshot& first,
                       const Snapshot* second) {
  if (second == nullptr) {
    return s.is_markdown ? report::to_markdown(first) : report::to_text(first);
  }
  const report::Diff change = report::diff(first, *second);
  return s.is_markdown ? report::to_markdown(change) : report::to_text(change);
}

}  // namespace

ExitCode run_report(const ReportSettings& settings) {
  files::Door& door = files::system_door();
  if (auto good = check_files(door, settings); !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  const auto first = report::read_snapshot(door, settings.snapshot);
  if (!first) {
    return fail(ExitCode::kData, first.error().message);
  }
  std::optional<Snapshot> second;
  if (!settings.other.empty()) {
    auto other = report::read_snapshot(door, settings.other);
    if (!other) {
      return fail(ExitCode::kData, other.error().message);
    }
    second.emplace(std::move(*other));
  }
  const Snapshot* later = second ? &*second : nullptr;
  const memory::String text = text_of(settings, *first, later);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  const auto written = write_files(door, settings, *first, later);
  return written ? ExitCode::kOk
                 : fail(ExitCode::kOutput, written.error().message);
}

}  // namespace neap::app
