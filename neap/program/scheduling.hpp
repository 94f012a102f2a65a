// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program as a scheduling problem (budget/problem.hpp), and a schedule of it
// as a program: rematerialisation. Calls that run again are calls of their own
// with values of their own, so that passes, lifetimes and executors know
// nothing of schedules.
//
//   %2 = tanh(%1)               %2 = tanh(%1)
//   ...                   ->    ...                   no %2 in between
//   %9 = mul(%8, %2)            %7 = tanh(%1)         the clone
//                               %9 = mul(%8, %7)
#pragma once

#include <cstdint>
#include <span>

#include "neap/budget/problem.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// The problem's calls are the program's, in its order; its values are the
/// memories on the host that live within a run, in bytes as a plan counts them.
/// A call may run again if it is pure or random, sets nothing but new values of
/// the arena, and nothing that it reads was written since.
/// `prices`: of each call, in nanoseconds. REQUIRES: a bound program.
/// THROWS: OutOfMemory.
NEAP_API budget::Problem scheduling_problem(
    const Program& program, std::span<const std::int64_t> prices);

/// Brings the program into the form of a schedule of its problem. Reads find
/// the latest of the values that a call and its clones made, as results and
/// gradients do. THROWS: OutOfMemory; the program can then only be dropped.
NEAP_API void materialise(Program& program, const budget::Schedule& schedule);

}  // namespace neap::compiler
