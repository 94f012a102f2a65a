// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The counts that a long run must not add to, of the domain and of the process.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

#include "neap/base/call_site.hpp"
#include "neap/memory/domain.hpp"

namespace neap::tests {

inline Bytes resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  Bytes size = 0;
  Bytes resident = 0;
  statm >> size >> resident;
  return resident * 4096;
}

/// The bytes that the process may have more of: what its heap and its stack
/// touch late, once and for all.
inline constexpr Bytes kResidentSlack = 64 * kKiB;

/// A look at a domain and the process.
struct Level {
  memory::Stats door;
  int sites = 0;
  Bytes resident = 0;
};

inline Level level_of(const memory::Domain& domain) {
  return {domain.stats(), base::interned_sites(), resident_bytes()};
}

/// Owners, and what else the ledger has tables of, are counted in its
/// bookkeeping; graph nodes are live blocks.
inline void expect_ledger_flat(const Level& now, const Level& before) {
  EXPECT_EQ(now.door.live, before.door.live);
  EXPECT_EQ(now.door.live_blocks, before.door.live_blocks);
  EXPECT_EQ(now.door.live_peak, before.door.live_peak);
  EXPECT_EQ(now.door.books, before.door.books);
  EXPECT_EQ(now.sites, before.sites);
}

inline void expect_flat(const Level& now, const Level& before) {
  expect_ledger_flat(now, before);
  EXPECT_EQ(now.door.held, before.door.held);
  EXPECT_EQ(now.door.peak, before.door.peak);
  EXPECT_EQ(now.door.system_calls, before.door.system_calls);
  EXPECT_LE(now.resident, before.resident + kResidentSlack);
}

/// The same for a run whose large blocks come and go in ever other sizes. Where
/// none of the gaps between those that stay is wide enough, the pool asks for
/// pages: ever more seldom, and an eighth of what it has at most.
inline void expect_flat_but_for_gaps(const Level& now, const Level& before) {
  expect_ledger_flat(now, before);
  const Bytes more = before.door.held / 8;
  EXPECT_LE(now.door.held, before.door.held + more);
  EXPECT_LE(now.door.peak, before.door.peak + more);
  EXPECT_LE(now.door.system_calls, before.door.system_calls + 4);
  EXPECT_LE(now.resident, before.resident + more + kResidentSlack);
}

}  // namespace neap::tests
