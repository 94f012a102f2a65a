// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How the process stands before main runs, and how it ends where no exception
// can reach main: in the initialiser of a static object, inside a noexcept
// function, or because there is no memory left for the exception itself.
// std::terminate then writes one line and ends with a documented status, from
// before the first static object of the tool and of its libraries on.
#pragma once

namespace neap::app {

/// Whether the system has refused memory (malloc and its like) to this process.
/// Asked after code that hides such a failure: streams drop it, and with it the
/// rest of what they write or read.
bool is_memory_short() noexcept;

/// Gives the numbers of standard streams that are closed to /dev/null, opened
/// such that their use fails as before. Otherwise the next file that the tool
/// opens would be standard error, and take its messages for content. A write to
/// a pipe that nobody reads any more, or beyond the largest file that the
/// process may write, then fails as well, and does not end the process.
void hold_standard_streams() noexcept;

}  // namespace neap::app
