// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Digests of a traced program, one a call: two traces of a step that did the
// same have the same ones. What every run writes anew (an optimizer's rates) is
// left out; constants count with their elements, and tensors, leaves and
// handles that are the same in every run as the objects that they are.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

using Digests = memory::Vector<std::uint64_t>;

/// A digest of each call, and a last one of results, and of what handles and
/// leaves get.
/// REQUIRES: no pass has changed the program. THROWS: OutOfMemory.
NEAP_API Digests digests_of(const Program& program);

/// One digest of what the memory of a run depends on: calls, their order, who
/// reads what, shapes and results; neither the numbers in attributes nor any
/// elements. The same in every process, and in a dry run.
/// REQUIRES: no pass has changed the program.
NEAP_API std::uint64_t structure_digest(const Program& program) noexcept;

/// The handles that the step reads at its entry, those that it assigns to with
/// the external which they are. REQUIRES: no pass has changed the program.
/// THROWS: OutOfMemory.
NEAP_API memory::Vector<StateRead> state_reads_of(const Program& program);

/// Whether a run that reads `now` is one of a program that reads `known`:
/// either may read more, where several handles meant one tensor. REQUIRES: the
/// handles are there.
NEAP_API bool are_covered(std::span<const StateRead> now,
                          std::span<const StateRead> known);

}  // namespace neap::compiler
