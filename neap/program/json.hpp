// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program as JSON, for other programs.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// A program as an object:
///   arguments  [{dtype, shape, space}]
///   values     [{dtype, shape, space, bytes, category, owner, site, origin
///               ("argument", "external", "call"), index, over (or null)}]
///   externals  [{category, owner, bytes, is_written, is_constant}]
///   calls      [{name, kind, inputs, outputs: [{value, dtype, shape, strides,
///               offset}], site, owner, space, stream, segment, scratch,
///               members (of a fused call) [name]}]
///   results    [{operand, is_kept}]
///   gradients  [{operand (or null)}]
///   draws, bytes
/// THROWS: OutOfMemory.
NEAP_API memory::String to_json(const Program& program);

}  // namespace neap::compiler
