// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Binding: which kernel each call of a program runs, by the rule that eager
// calls follow, and how much scratch it asks for.
#pragma once

#include <memory>

#include "neap/kernels/fused.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

struct Binding {
  const kernels::Kernel* kernel =
      nullptr;  // nullptr: a check, a move, a transfer
  kernels::SpaceRuntime* runtime = nullptr;  // of the call's space; of a
                                             // transfer: of the other space
  /// Of a fused call. Calls that do the same share one.
  std::shared_ptr<const kernels::FusedCall> fused;
};

/// A binding a call; Call::scratch is set. It hangs on `executor`'s number of
/// threads. THROWS: DTypeError where there is no kernel; DeviceError where a
/// space has no runtime; OutOfMemory.
NEAP_API memory::Vector<Binding> bind(Program& program,
                                      threads::Executor& executor);

/// A view of `operand` on a storage that begins at `data`.
NEAP_API tensor::Strided view_of(const Operand& operand,
                                 std::byte* data) noexcept;

}  // namespace neap::compiler
