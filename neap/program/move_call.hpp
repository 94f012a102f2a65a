// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Calls that move a value to a file and back (CallKind::kSpill, kFetch,
// kAwait). For sources of this room.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// A move of all bytes of `id`, told of as one of `first`: the value itself, or
/// that which `id` is another materialisation of. `slot`: as Call::slot.
/// THROWS: OutOfMemory.
Call move_call(Program& program, CallKind kind, std::uint32_t slot,
               ValueId first, ValueId id);

}  // namespace neap::compiler
