// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Calls that run for a part of a batch. For sources of this room.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// A call of another op where `near` is, without operands and attributes.
Call call_near(const Call& near, const graph::Op& op);

/// A random call draws for its elements by their number in the whole batch of
/// `rows`: a part that begins with row `first` draws as these do. Nothing for
/// other calls. THROWS: OutOfMemory.
void count_draws_on(Program& program, Call& part, std::int64_t rows,
                    std::int64_t first);

}  // namespace neap::compiler
