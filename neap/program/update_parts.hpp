// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Updates for some of their elements at a time. Of a storage that is away,
// some elements are in the arena then, where the whole update has all of them.
//
//                                      %12 over %11, %5 over %1 =
//   %4 over %2, %5 over %1 =               adam(%8 elements [0, n))
//       adam(%8)                  ->   %4 over %12, %14 over %13 =
//                                          adam(%8 elements [n, 2 n))
//
// Here %2 is at home, and is written where it lies; %1 is away: %1 and %5 are
// its first n elements from now on, %13 and %14 the others. Each element is a
// function of its own operands alone, so the bits stay.
#pragma once

#include <cstdint>
#include <span>

#include "neap/program/keep_away.hpp"

namespace neap::compiler {

/// An update that is cut into parts of so many elements.
struct UpdateCut {
  std::uint32_t call = 0;
  std::int64_t each = 0;
};

/// The number of elements of its operands, where all of them have as many, of
/// one dtype, and outputs are all of their values; else 0. Only such an update
/// may be cut, if its kernel is elementwise (kernels::Kernel::piece).
std::int64_t elements_of_update(const Program& program, const Call& call);

/// Cuts these updates, in the order of their calls. `moves` are of the program
/// as it becomes: one of a storage whose update is cut is replaced by one for
/// each of its parts, after one for its uses before that. RETURNS: the former
/// position of each call. THROWS: OutOfMemory; the program can then only be
/// dropped.
memory::Vector<std::uint32_t> cut_updates(Program& program,
                                          std::span<const UpdateCut> cuts,
                                          memory::Vector<AwayMoves>& moves);

}  // namespace neap::compiler
