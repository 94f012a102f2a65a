// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Prices of calls, from a table: what a run of each takes, in nanoseconds. They
// are estimates, the same on every machine, for choosing between plans of one
// program; ratios between calls matter, absolute values do not.
#pragma once

#include <cstdint>

#include "neap/program/program.hpp"

namespace neap::compiler {

/// One price a call, each at least 1. THROWS: OutOfMemory.
NEAP_API memory::Vector<std::int64_t> prices_of(const Program& program);

/// The work and the traffic of a call.
struct CallCost {
  std::int64_t flops = 0;
  Bytes moved = 0;  // its operands, read and written
};

/// The costs of all calls; those of a fused call's parts are its own. THROWS:
/// OutOfMemory.
NEAP_API memory::Vector<CallCost> costs_of(const Program& program);

/// The sum of all prices. THROWS: OutOfMemory.
NEAP_API std::int64_t price_of(const Program& program);

}  // namespace neap::compiler
