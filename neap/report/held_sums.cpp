// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/held_sums.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "neap/compile/arenas.hpp"
#include "neap/report/ledger_rows.hpp"

namespace neap::report {

memory::Vector<std::uint32_t> order_blocks(
    memory::Vector<Snapshot::Block>& blocks) {
  memory::Vector<std::uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) {
      const Snapshot::Block& block = blocks[i];
      return std::tuple(block.first, block.space, block.offset, block.last,
                        block.value);
    };
    return key(a) < key(b);
  });
  memory::Vector<std::uint32_t> place(blocks.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
  }
  memory::Vector<Snapshot::Block> ordered;
  ordered.reserve(blocks.size());
  for (const std::uint32_t at : order) {
    Snapshot::Block& block = ordered.emplace_back(blocks[at]);
    if (block.over != Snapshot::kNone) {
      block.over = place[block.over];
    }
  }
  blocks = std::move(ordered);
  return place;
}

void find_peak(Snapshot& s) {
  struct Change {
    Bytes live = 0;
    Bytes used = 0;
  };
  memory::Vector<Change> changes(s.calls.size() + 1);
  for (const Snapshot::Block& block : s.blocks) {
    changes[block.first].live += block.bytes;
    changes[block.first].used += block.used;
    changes[block.last + 1].live -= block.bytes;
    changes[block.last + 1].used -= block.used;
  }
  Change now;
  s.sums.live_at_peak = 0;
  for (std::uint32_t i = 0; i < s.calls.size(); ++i) {
    now.live += changes[i].live;
    now.used += changes[i].used;
    if (now.live > s.sums.live_at_peak) {
      s.sums.live_at_peak = now.live;
      s.sums.used_at_peak = now.used;
      s.sums.peak_call = i;
    }
  }
}

void StayRows::add(std::string_view owner, memory::Category category,
                   Bytes bytes) {
  if (bytes != 0) {
    rows_[{texts_.id(owner), texts_.id(memory::name_of(category))}] += bytes;
  }
}

void StayRows::put_into(Snapshot& s) const {
  for (const auto& [key, bytes] : rows_) {
    s.stays.push_back({key.first, key.second, bytes});
    s.sums.stays += bytes;
  }
  std::stable_sort(s.stays.begin(), s.stays.end(),
                   [](const Snapshot::Stay& a, const Snapshot::Stay& b) {
                     return a.bytes > b.bytes;
                   });
}

void add_held(Snapshot& s, const memory::Domain& domain, Bytes there,
              TextPool& texts) {
  const memory::Vector<memory::Row> ledger = rows_of(domain, Instant::kNow);
  const memory::Stats stats = domain.stats();
  StayRows rows(texts);
  Bytes arena = 0;
  Bytes live = 0;
  Bytes program = s.sums.program;  // as much of it as the ledger has
  for (const memory::Row& row : ledger) {
    Bytes bytes = row.bytes;
    live += bytes;
    const std::string_view owner = domain.path_of(row.tag.owner);
    if (owner == compiler::kArenaOwner) {
      arena += bytes;
      continue;
    }
    if (row.tag.category == memory::Category::kGraph) {
      const Bytes part = std::min(program, bytes);
      program -= part;
      bytes -= part;
    }
    rows.add(owner, row.tag.category, bytes);
  }
  s.sums.program -= program;
  // The ledger has all arenas of the domain in one row, and none that a caller
  // lends. An arena that is larger than this program's is for others, too; one
  // that is smaller, or not there, is about to grow.
  const Bytes own = s.sums.arena - std::max<Bytes>(s.sums.lent, 0);
  const Bytes counted = std::min(own, there < 0 ? arena : there);
  rows.add(compiler::kArenaOwner, memory::Category::kActivations,
           std::max<Bytes>(arena - counted, 0));
  rows.put_into(s);
  s.sums.arguments = 0;  // they are among the domain's
  s.sums.idle = stats.idle;
  s.sums.overhead = std::max<Bytes>(stats.held - live - stats.idle, 0);
  s.sums.external = stats.external;
  s.sums.budget = stats.budget == kUnlimited ? -1 : stats.budget;
  s.sums.reserved = s.sums.arena + s.sums.stays + s.sums.program + s.sums.idle +
                    s.sums.overhead;
  s.sums.held_at_most = std::max(stats.peak, s.sums.held());
}

}  // namespace neap::report
