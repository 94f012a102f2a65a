// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neap report: what a snapshot says, as tables, as a page and for other
// viewers; of two, what changed.
#pragma once

#include <string>

#include "exit_code.hpp"

namespace neap::app {

struct ReportSettings {
  std::string snapshot;  // path
  std::string other;     // path of a later one; empty: none
  std::string page;      // paths of what is written; empty: nothing
  std::string pickle;
  std::string folded;
  std::string trace;
  std::string svg;
  bool is_markdown = false;
};

ExitCode run_report(const ReportSettings& settings);

}  // namespace neap::app
