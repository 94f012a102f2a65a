// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Updates that ranks share out: each rank has the state of some parameters of
// an optimizer, updates these, and hands them on.
//
//                                             the rank whose %1 is
//   %9 over %1, %8 over %2 = adam(%7)   ->    %10 over %1, %8 over %2 =
//   adam(%7)
//                                             %9 over %10 = hand_on()
//
//                                             every other rank
//                                             %9 over %1 = hand_on()
//
// A parameter is whole in one rank, and all ranks have its gradient, so an
// update has the bits that it has in a process alone. State that is another
// rank's (%2) is no part of a rank's program: no memory is asked for it.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// Gives the program the updates of its rank alone, where listeners say that
/// these are shared out (RunListener::share_of()). RETURNS: whether any is.
/// REQUIRES: the program was cut into shards where it is of several ranks.
/// THROWS: TraceError, with the line of the update, where these are other ranks
/// than the program's, or where anything but one update of the step touches the
/// state; OutOfMemory.
bool share_out_updates(Program& program);

}  // namespace neap::compiler
