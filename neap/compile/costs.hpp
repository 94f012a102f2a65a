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

/// Their sum. THROWS: OutOfMemory.
NEAP_API std::int64_t price_of(const Program& program);

}  // namespace neap::compiler
