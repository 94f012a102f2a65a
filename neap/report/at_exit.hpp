// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// At exit: any program that includes neap/neap.hpp can be looked at as it is.
//
//   NEAP_PAGE=run.html ./my_program          writes the memory page at its end
//   NEAP_SNAPSHOT=run.neapmem ./my_program   writes the snapshot
//
// They show the compiled step with the largest arena, or else what the default
// domain took and gave back (its latest events); what is live in that domain
// after main and the destructors of static objects, and who holds it; and the
// steps. A file that cannot be written is a sentence on standard error, and
// never changes the exit status. A relative path is one of the folder in which
// the program starts.
//
// Programs that end otherwise than by exit() write nothing: by a signal, by
// quick_exit(), or in a child after fork(). What a function held that called
// exit() is still live then. Where neither variable is set, nothing is done:
// two look-ups of the environment at the start are the whole cost.
#pragma once

#include "neap/base/api.hpp"

namespace neap::report {

namespace internal {
/// Stands in the object that looks at the environment.
NEAP_API extern const char kAtExit;
// A reference alone, which takes that object out of a static library.
[[gnu::used]] inline constinit const char* const kAtExitAnchor = &kAtExit;
}  // namespace internal

}  // namespace neap::report
