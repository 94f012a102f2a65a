// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A plan without fragmentation: memory in pages, of which a buffer may have
// several runs that it sees as one range of addresses. Then the lower bound in
// pages is always reached, since any free pages will do.
//
//   addresses, in pages        0 .. pages-1: the pages themselves, in order
//                              pages ..    : views, one after the other, of
//                                            the buffers in several runs
//
// A buffer in one run needs no view: its address is its first page's. Buffers
// below a page share pages (page_groups.hpp).
// neap/memory/paged_arena.hpp makes such addresses.
#pragma once

#include "neap/planner/problem.hpp"

namespace neap::planner {

/// `count` pages from `at` on show those from `from` on.
struct PageView {
  std::int64_t at = 0;    // address, in pages; at least Paging::pages
  std::int64_t from = 0;  // first page, below Paging::pages
  std::int64_t count = 0;
};

struct Paging {
  std::int64_t page_size = 0;
  std::int64_t pages = 0;          // number of pages
  std::int64_t address_pages = 0;  // pages and views together
  /// Address of each buffer, in units of size.
  memory::Vector<std::int64_t> addresses;
  memory::Vector<PageView> views;  // views ordered by `at`
};

/// The choice among free pages for a buffer.
enum class PageChoice : std::uint8_t {
  kTogether,   // pages in as few runs as can be
  kScattered,  // pages one by one, backward: for tests of what runs on them
};

/// A buffer of a page or more takes whole pages; smaller ones share them where
/// that makes fewer. `pages` is the largest sum of live pages at an instant,
/// exactly. A plan of solve() comes first; buffers that exceed it take free
/// pages, in as few runs as possible then.
/// THROWS: ValueError as check(), for a fixed buffer, and where the page size
/// is no multiple of an alignment; OutOfMemory.
NEAP_API Paging assign_pages(const Problem& problem, std::int64_t page_size,
                             const SolveOptions& options = {},
                             PageChoice choice = PageChoice::kTogether);

}  // namespace neap::planner
