// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the makers of snapshots: blocks in their order, when they are most,
// what stays in rows, and what a domain holds.
#pragma once

#include <map>
#include <utility>

#include "neap/memory/domain.hpp"
#include "neap/report/snapshot.hpp"
#include "neap/report/text_pool.hpp"

namespace neap::report {

/// Puts blocks in the order of a snapshot: of first calls, then of places, and
/// renumbers Block::over. RETURNS: where each of them is now. THROWS:
/// OutOfMemory.
memory::Vector<std::uint32_t> order_blocks(
    memory::Vector<Snapshot::Block>& blocks);

/// Sums::peak_call, live_at_peak and used_at_peak, of the blocks. THROWS:
/// OutOfMemory.
void find_peak(Snapshot& snapshot);

/// Memory that stays, joined by owner and category.
class StayRows {
 public:
  explicit StayRows(TextPool& texts) : texts_(texts) {}
  void add(std::string_view owner, memory::Category category, Bytes bytes);
  /// The rows, largest first, and their sum.
  void put_into(Snapshot& snapshot) const;

 private:
  using Key = std::pair<TextId, TextId>;  // owner, category
  TextPool& texts_;
  std::map<Key, Bytes, std::less<>,
           memory::Allocator<std::pair<const Key, Bytes>>>
      rows_;
};

/// All that the domain holds at this instant, beside the arena and the program
/// in the sums: what stays, idle pages, rounding, budget. Sums::lent is the
/// part of the arena that is the caller's; `there`: bytes of the step's arenas
/// that are the domain's already, -1: not known. THROWS: OutOfMemory.
void add_held(Snapshot& snapshot, const memory::Domain& domain, Bytes there,
              TextPool& texts);

}  // namespace neap::report
