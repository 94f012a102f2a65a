// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Fused calls: what one is in a program (CallKind::kFused), and how it is run.
//
//   members    y = mul(x, w); z = relu(y); b = add(z, row)    as traced
//   inputs     x, w, row    each with the layout in which its elements follow
//                           the logical index: strides are 0 where broadcast
//   outputs    b            what others need; y and z have no memory
#pragma once

#include <span>

#include "neap/kernels/fused.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// The calls that a fused call consists of, and what they read and make that
/// others know.
struct FusedParts {
  memory::Vector<Call> members;
  memory::Vector<Operand> in;
  memory::Vector<Operand> out;
};

/// Whether a call can be a member: an op's elementwise kernel over fresh, dense
/// outputs. THROWS: DeviceError where its space has no runtime.
bool may_fuse(const Program& program, const Call& call);

/// Elements of each output of a member.
std::int64_t fused_count(const Program& program, const Call& member);

/// Whether a member that reads this finds it element by element where another
/// member of as many elements has made it.
bool follows_index(const Program& program, const Call& reader,
                   const Operand& operand);

/// An operand with a layout that no pool keeps yet.
struct SeenOperand {
  ValueId value = kNoValue;
  tensor::Layout layout;
  friend bool operator==(const Operand& a, const SeenOperand& b) noexcept {
    return a.value == b.value && a.layout == b.layout;
  }
};

/// How an operand of `member` that lies outside is seen by the fused call that
/// begins with `first`.
SeenOperand seen_outside(const Program& program, const Call& first,
                         const Call& member, const Operand& operand);

/// Fills `fused` for these parts. False: they are too many.
/// REQUIRES: may_fuse of each. THROWS: DeviceError.
/// LIFETIME: the program's attributes stay where they are while it is run.
bool lay_out(const Program& program, std::span<const Call> members,
             std::span<const Operand> in, std::span<const Operand> out,
             kernels::FusedCall& fused);

/// The value of Args::attrs of kernels::fused_kernel for `call`, a fused one;
/// the views are its inputs and outputs. THROWS: InternalError where it does
/// not fit.
NEAP_API kernels::FusedCall fused_call(const Program& program,
                                       const Call& call);

/// Bit i: output `k` of a fused call may take over the memory of input i: of
/// the same layout, and read by no member after the one that makes the output.
std::uint32_t fused_takeovers(const Program& program, const Call& call,
                              std::size_t k);

}  // namespace neap::compiler
