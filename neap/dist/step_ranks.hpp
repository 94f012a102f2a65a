// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The ranks of a step that is only planned: what each needs is known without
// an engine, and without the other ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "neap/program/ranks.hpp"

namespace neap::dist {

/// Rank `rank` of so many, for a step in a dry run (CompileOptions::ranks), in
/// which nothing can be run. A batch is the first of `batches` of which this
/// rank would have the rows that it is given, or has as many for every rank.
/// THROWS: ValueError unless the number of ranks is a power of two, and `rank`
/// one of them; OutOfMemory.
NEAP_API std::shared_ptr<compiler::Ranks> planned_ranks(
    int rank, int ranks, std::span<const std::int64_t> batches = {});

}  // namespace neap::dist
