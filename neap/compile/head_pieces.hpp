// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// In how many pieces of rows the heads of a step (program/head_region.hpp) are
// worth a plan, where its arena is limited. The work is the same, but weights
// are read, and their gradients added to, once a piece: so the fewest pieces
// that suffice are the cheapest.
#pragma once

#include "neap/compile/options.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

struct HeadPieces {
  /// With all values kept: 2, 4, ...
  memory::Vector<std::uint32_t> kept;
  /// With calls that run again: until the head is no wider than other calls, or
  /// little is won by more; and many, where that is above other calls.
  memory::Vector<std::uint32_t> scheduled;
};

/// `arena`: of the step with all values kept. Nothing where the logits are no
/// good share of it, or the passes' own number of pieces is not 0.
/// THROWS: OutOfMemory.
HeadPieces head_pieces(const Program& traced, const Passes& passes,
                       Bytes arena);

}  // namespace neap::compiler
