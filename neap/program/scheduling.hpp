// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program as a scheduling problem (budget/problem.hpp), and a schedule of it
// as a program. Calls that run again are calls of their own with values of
// their own (rematerialisation), as are moves to the spill file and back, so
// that passes, lifetimes and executors know nothing of schedules.
//
//   %2 = tanh(%1)               %2 = tanh(%1)             %2 = tanh(%1)
//   ...                   ->    ...                or     spill(%2)
//                                                         ...
//                                                         await(%2)
//                               ... no %2 in between      ... nor here
//                               %7 = tanh(%1)             %7 = fetch()
//                                                         ...
//                                                         await(%7)
//   %9 = mul(%8, %2)            %9 = mul(%8, %7)          %9 = mul(%8, %7)
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "neap/budget/problem.hpp"
#include "neap/program/dataflow.hpp"

namespace neap::compiler {

/// The problem's calls are the program's, in its order; its values are the
/// memories on the host that live within a run, in bytes as a plan counts them.
/// A call may run again if it is pure or random, sets nothing but new values of
/// the arena, and nothing that it reads was written since. A value of the arena
/// of at least `least_spilled` bytes that nothing writes over may be spilled to
/// the `channel`, where there is one.
/// `prices`: of each call, in nanoseconds. REQUIRES: a bound program.
/// THROWS: OutOfMemory.
NEAP_API budget::Problem scheduling_problem(
    const Program& program, std::span<const std::int64_t> prices,
    const std::optional<budget::Channel>& channel = {},
    Bytes least_spilled = 0);

/// The first value in each memory of the problem, by its number there.
/// THROWS: OutOfMemory.
memory::Vector<ValueId> scheduled_values(const Program& program,
                                         const Memories& memories);

/// Brings the program into the form of a schedule of its problem. Reads find
/// the latest of the values that a call and its clones made, or that were
/// fetched, as results and gradients do. THROWS: OutOfMemory; the program can
/// then only be dropped.
NEAP_API void materialise(Program& program, const budget::Schedule& schedule);

}  // namespace neap::compiler
