// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The ranks of a step that is only planned: what each needs is known without
// an engine, and without the other ranks.
#pragma once

#include <memory>

#include "neap/program/ranks.hpp"

namespace neap::dist {

/// Rank `rank` of so many, for a step in a dry run (CompileOptions::ranks): the
/// batch has as many rows for every rank, and nothing can be run. THROWS:
/// ValueError unless the number of ranks is a power of two, and `rank` one of
/// them; OutOfMemory.
NEAP_API std::shared_ptr<compiler::Ranks> planned_ranks(int rank, int ranks);

}  // namespace neap::dist
