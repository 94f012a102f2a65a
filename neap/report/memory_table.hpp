// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Views of a domain's ledger for people: bytes by category and by layer, now or
// at the high-water mark. The views' own memory comes from a domain of their
// own, so that looking changes nothing.
#pragma once

#include <array>
#include <iosfwd>
#include <string>

#include "neap/memory/containers.hpp"

namespace neap::report {

enum class Instant { kNow, kLivePeak };

/// Live bytes of one name, and of each category under it.
struct Line {
  memory::String name;
  Bytes bytes = 0;
  std::array<Bytes, memory::kCategoryCount> by_category{};
};

struct Breakdown {
  Bytes live = 0;  // the sum of either list
  memory::Vector<Line>
      by_category;  // categories in the enumeration's order, none left out
  memory::Vector<Line> by_owner;  // largest first; "" is no owner
  /// Lines by layer: an owner with its parameters, gradients and state joined
  /// to it: "fc1.weight" counts for "fc1".
  memory::Vector<Line> by_layer;
};

/// THROWS: OutOfMemory (of the report's own domain).
NEAP_API Breakdown breakdown(const memory::Domain& domain, Instant instant);

struct TableOptions {
  std::size_t rows = 16;  // largest layers shown; the rest are summed
  /// Characters in a line; the smallest categories are summed under "other"
  /// where there are too many for it. 0: any.
  std::size_t width = 0;
};

/// The table that a training run ends with: one row a layer, the largest
/// first, below them what belongs to no layer and the arena of a compiled step,
/// then totals; one column a category in use. Sizes are short ("1.5 MiB");
/// `breakdown` has the bytes.
NEAP_API std::string format_table(const Breakdown& breakdown,
                                  const TableOptions& options = {});
NEAP_API std::ostream& operator<<(std::ostream& out,
                                  const Breakdown& breakdown);

/// "live 2.1 MiB  held 3.0 MiB  peak 12.4 MiB": for progress lines.
NEAP_API std::string format_line(const memory::Stats& stats);

}  // namespace neap::report

namespace neap::memory {
/// report::format_line of them.
NEAP_API std::ostream& operator<<(std::ostream& out, const Stats& stats);
}  // namespace neap::memory
