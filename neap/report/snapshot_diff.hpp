// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Diff: what is reserved at the peaks of two snapshots, in rows that add up to
// the difference to the byte.
#pragma once

#include "neap/base/api.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

struct Diff {
  /// Memory of one layer and category; or a part without layers, such as
  /// rounding, where `layer` and `category` are empty.
  struct Row {
    memory::String part;  // "values", "what stays", "gaps of the arena", ...
    memory::String layer;
    memory::String category;
    Bytes before = 0;
    Bytes after = 0;
    Bytes change() const noexcept { return after - before; }
  };

  memory::String title_before;
  memory::String title_after;
  Snapshot::Sums before;
  Snapshot::Sums after;
  /// Rows that changed, largest change first. Their changes add up to the
  /// change of Sums::reserved.
  memory::Vector<Row> rows;
};

/// Memory is of the reports' domain.
NEAP_API Diff diff(const Snapshot& a, const Snapshot& b);

}  // namespace neap::report
