// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Plan: the address of every value of a program, and the size of the arenas,
// known before anything runs. One packing problem a memory space.
#pragma once

#include <array>

#include "neap/compile/lifetimes.hpp"
#include "neap/memory/paged_arena.hpp"

namespace neap::compiler {

/// The arena of one memory space.
struct SpacePlan {
  Bytes bytes = 0;        // height
  Bytes lower_bound = 0;  // no plan of these lifetimes is lower
  bool is_proven = true;  // the height is the lowest there is
  double seconds = 0.0;   // spent by the planner
  const char* method = "";
  std::uint32_t peak_call = 0;  // when the sum of what lives is largest
  Bytes live_at_peak = 0;       // that sum, in whole units
};

/// A buffer that lives at its space's peak.
struct Live {
  ValueId value = kNoValue;  // in it at that instant; kNoValue: scratch
  std::uint32_t call = 0;    // that computed it, or whose scratch it is
  Bytes bytes = 0;           // in whole units
  Bytes offset = 0;
  memory::Category category = memory::Category::kActivations;
  memory::OwnerId owner{};
  base::SiteId site{};
  memory::SpaceId space = memory::kHost;
};

struct OwnerBytes {
  memory::OwnerId owner{};
  Bytes bytes = 0;
};

/// Views of the host's arena at further addresses, for buffers whose pages do
/// not lie together.
struct PagePlan {
  memory::Vector<memory::PagedArena::View> views;
  Bytes bytes = 0;  // of those addresses
};

struct Plan {
  Lifetimes lifetimes;
  /// Offsets of arena buffers, 0 for others. Those beyond the arena's bytes are
  /// in views.
  memory::Vector<Bytes> offsets;
  PagePlan pages;
  std::array<SpacePlan, memory::kMaxSpaces> spaces;
  int threads = 1;  // scratch is for as many
  Bytes lent = 0;  // the caller's, as the host's arena; 0: it is the step's own
  Debug debug;

  memory::Vector<Live> at_peak;  // largest first, in every space
  std::array<Bytes, memory::kCategoryCount> by_category{};  // of at_peak
  memory::Vector<OwnerBytes> by_owner;  // of at_peak, largest first

  const SpacePlan& space(memory::SpaceId id = memory::kHost) const {
    return spaces[id.value];
  }
  /// The offset of a buffer's values in its arena.
  Bytes address_of(BufferId buffer) const noexcept {
    return offsets[buffer.value] + (debug.guards ? kBand : 0);
  }
  /// Whether it is in views: its offset then counts on from the arena's bytes.
  bool is_in_views(BufferId buffer) const noexcept {
    return pages.bytes != 0 && lifetimes.at(buffer).space == memory::kHost &&
           offsets[buffer.value] >= space().bytes;
  }
  /// All arenas together.
  NEAP_API Bytes arena_bytes() const noexcept;
  /// The time that the planner took, in all spaces.
  double seconds() const noexcept;
  /// Blocks that outlast a run: kept results, gradients that are left.
  Bytes own_bytes() const noexcept;
  /// Bytes of the plan's own bookkeeping.
  Bytes bytes() const noexcept;
};

/// REQUIRES: a bound program. The same program gives the same plan, but for
/// the seconds. THROWS: OutOfMemory; InternalError where the planner's answer
/// is found wrong (checked in checked builds). `is_paged`: the host's arena may
/// be in pages (CompileOptions::paged).
NEAP_API Plan plan(const Program& program, int threads, const Debug& debug = {},
                   const planner::SolveOptions& options = {},
                   bool is_paged = false);

/// The offset of each value in its space's arena, by its number; -1: in none;
/// from the arena's bytes on: in views of its pages.
/// THROWS: OutOfMemory.
NEAP_API memory::Vector<Bytes> value_offsets(const Plan& plan);

}  // namespace neap::compiler
