// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Several updates in place as one call: an optimizer's step passes once over
// all parameters, however many and however small they are.
//
//   members   |  w1  |b1|        w2        |b2| w3 |b3|   one after the other
//   threads   |        part 0       |       part 1     |   contiguous ranges
//
// Each element is a pure function of its own operands, so the cuts never show
// in the result: it has the bits of one call after another.
#pragma once

#include <span>

#include "neap/kernels/engine/elementwise.hpp"

namespace neap::kernels {

/// An update. LIFETIME: the operands and the attributes keep their addresses.
struct UpdateMember {
  PieceFunction function = nullptr;
  const void* attrs = nullptr;
  std::array<std::byte*, kMaxOperands> data{};  // inputs, then outputs
  int size = 0;                                 // bytes of an element
  std::int64_t count = 0;
  std::int64_t first = 0;  // offset in a run; set there

  /// Bytes of each operand.
  Bytes bytes() const noexcept { return count * size; }
};

/// A call of `kernel` as a member. False where it cannot be one: the kernel
/// names no Kernel::piece, or an operand does not lie dense in the shape of
/// out[0], or is of another dtype.
[[nodiscard]] bool member_of(const Kernel& kernel, const Args& args,
                             UpdateMember& member) noexcept;

/// Runs all members. REQUIRES: no two overlap, but for what they only read.
void run_updates(std::span<UpdateMember> members,
                 threads::Executor& executor) noexcept;

}  // namespace neap::kernels
