// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// interpret: runs a program slowly and obviously, as a reference: every value
// gets a storage of its own (one `over` another: that one's), every call looks
// for its kernel and asks for its scratch. Compiled, interpreted and eager give
// the same bits.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// Runs a program once and returns its results. Its side effects take place:
/// listeners are told, the current generator advances, leaves get gradients.
/// THROWS: ShapeError, DTypeError, DeviceError for arguments unlike the
/// program's; TraceError where the program does not hold (flags, gradients that
/// are or are not there); what checks and listeners throw; OutOfMemory. Values
/// written until then stay written.
NEAP_API memory::Vector<Tensor> interpret(const Program& program,
                                          std::span<const Tensor> arguments);

/// Runs one call of a program, a kernel, a transfer or a check, on these views,
/// one an operand. `attrs`: its attributes, of this run. THROWS: as interpret.
NEAP_API void run_call(const Program& program, const Call& call,
                       std::span<const tensor::Strided> in,
                       std::span<const tensor::Strided> out, const void* attrs);

/// A spill file in memory.
class SlotMemory {
 public:
  /// Moves the bytes of a kSpill or kFetch at once; a kAwait does nothing.
  /// THROWS: OutOfMemory.
  NEAP_API void move(const Call& call, std::span<std::byte> bytes);

 private:
  memory::Vector<memory::Vector<std::byte>> slots_;
};

}  // namespace neap::compiler
