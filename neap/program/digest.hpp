// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The digest of a traced program's structure, which plan files name programs
// by. What a step did, for a later trace to be compared with, is trail.hpp.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// One digest of what the memory of a run depends on: calls, their order, who
/// reads what, shapes and results; neither the numbers in attributes nor any
/// elements. The same in every process, and in a dry run.
/// REQUIRES: no pass has changed the program.
NEAP_API std::uint64_t structure_digest(const Program& program) noexcept;

}  // namespace neap::compiler
