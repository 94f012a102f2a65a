// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Prices of calls: what a run of each takes, in nanoseconds. Those of the table
// are estimates, the same on every machine, for choosing between plans of one
// program; ratios between calls matter, absolute values do not. Those of a
// CostBook are measured.
#pragma once

#include <cstdint>

#include "neap/compile/cost_book.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// One price a call, each at least 1. With a book, calls that it has no cost of
/// have those of the table, at the scale of the book's. REQUIRES: with a book,
/// the program is bound. THROWS: OutOfMemory.
NEAP_API memory::Vector<std::int64_t> prices_of(const Program& program,
                                                CostBook* book = nullptr);

/// The work and the traffic of a call.
struct CallCost {
  std::int64_t flops = 0;
  Bytes moved = 0;  // its operands, read and written
};

/// The costs of all calls; those of a fused call's parts are its own. THROWS:
/// OutOfMemory.
NEAP_API memory::Vector<CallCost> costs_of(const Program& program);

/// The sum of all prices. THROWS: as prices_of().
NEAP_API std::int64_t price_of(const Program& program,
                               CostBook* book = nullptr);

}  // namespace neap::compiler
