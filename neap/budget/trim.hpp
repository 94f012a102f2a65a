// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trimming: drops values that a schedule keeps for no reader. The decoder drops
// a value where its memory is needed; what is read no more may stay for long,
// so that a schedule's peak is that of its target, whatever it needs.
#pragma once

#include "neap/budget/problem.hpp"

namespace neap::budget {

/// The same runs and moves, at the same times, with each value dropped by the
/// last run that reads it, or makes it, before it is dropped or made again. The
/// drop of what is written stays where it was, since it waits for the file.
/// REQUIRES: evaluate() finds no fault. THROWS: OutOfMemory.
NEAP_API Schedule trimmed(const Problem& problem, const Schedule& schedule);

}  // namespace neap::budget
