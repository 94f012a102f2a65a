// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Digests of a traced program, one a call: two traces of a step that did the
// same have the same ones. What every run writes anew (an optimizer's rates) is
// left out; constants count with their elements.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

using Digests = memory::Vector<std::uint64_t>;

/// A digest of each call, and a last one of results and gradients.
/// REQUIRES: no pass has changed the program. THROWS: OutOfMemory.
NEAP_API Digests digests_of(const Program& program);

}  // namespace neap::compiler
