// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every op of op_peers.hpp beside PyTorch, the two taking turns in one run: in
// one core's L2 and in DRAM, along each axis; with --all from transposed
// operands too, backward too, and on each count of threads.
#pragma once

#include "support/arguments.hpp"
#include "support/report.hpp"

namespace neap::bench {

/// Without PyTorch, says so in the report and compares nothing.
void compare_with_torch(const Arguments& arguments, Report& report);

}  // namespace neap::bench
