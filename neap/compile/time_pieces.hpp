// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// In how many pieces of time the recurrent layers of a step
// (program/time_layers.hpp) are worth a plan, where its arena is limited.
#pragma once

#include "neap/compile/options.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// With calls that run again, or values in a file: pieces alone lower nothing.
/// `arena`: of the step with all values kept. Nothing where what the layers
/// keep is no good share of it, or the passes' own number is not 0. THROWS:
/// OutOfMemory.
memory::Vector<std::uint32_t> time_pieces(const Program& traced,
                                          const Passes& passes, Bytes arena);

}  // namespace neap::compiler
