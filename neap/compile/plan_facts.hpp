// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The facts that the plans of a file were made for, as the options of a step
// say them.
#pragma once

#include <string>

#include "neap/compile/options.hpp"
#include "neap/compile/plan_file.hpp"

namespace neap::compiler {

/// All facts but the number of threads, which no option says.
PlanFacts facts_of(const CompileOptions& options);

/// The first that differs, in words: "budget was 2.0 MiB, is 3.0 MiB"; "" where
/// all are equal. THROWS: OutOfMemory.
std::string difference(const PlanFacts& there, const PlanFacts& here);

}  // namespace neap::compiler
