// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Changes of a program by passes, which keep its tables in step.
#pragma once

#include <span>

#include "neap/program/program.hpp"

namespace neap::compiler {

/// The calls named by `order`, in that order, and no others. Values of calls
/// that go have no maker from then on, until tidy(). THROWS: OutOfMemory; the
/// program is then as before.
void keep_calls(Program& program, std::span<const std::uint32_t> order);

/// Drops what nothing names any more: values that no call makes, constants that
/// no call reads, operands of calls that went. THROWS: OutOfMemory.
void tidy(Program& program);

}  // namespace neap::compiler
