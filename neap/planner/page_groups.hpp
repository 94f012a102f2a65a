// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The groups of buffers that share pages. A buffer of a page or more has pages
// of its own; those below lie together in groups, each with pages for as long
// as any of it lives.
//
//   unit  +----+----+
//         | b  | d  |  page 1     a, b and c touch in a page and in time, so
//         +--+-++---+             they are one group of two pages; d has one
//         | a| |c   |  page 0     of its own
//         +--+-+----+--> time
#pragma once

#include "neap/planner/problem.hpp"

namespace neap::planner {

struct PageGroups {
  Problem problem;                        // of the groups, sizes in pages
  memory::Vector<std::int32_t> group_of;  // of each buffer
  memory::Vector<std::int64_t> at;        // where in its group, in units
};

/// Whichever needs fewer pages: groups, or whole pages for every buffer.
/// REQUIRES: no aliases, nothing fixed, alignments that divide the page.
/// THROWS: OutOfMemory.
PageGroups group_pages(const Problem& problem, std::int64_t page_size,
                       const SolveOptions& options);

}  // namespace neap::planner
