// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StandIn: what a storage without elements stands for: a value of a program
// that is being traced. It refers to the trace by number, so that a handle
// which outlives it finds nothing to follow.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// As graph::Trace::number().
using TraceNumber = base::StrongId<struct TraceNumberTag, std::uint64_t>;

class StandIn final : public tensor::LentOwner {
 public:
  StandIn(TraceNumber trace, ValueId value) noexcept
      : trace_(trace), value_(value) {}

  TraceNumber trace() const noexcept { return trace_; }
  /// The storage's elements, as of the latest write that was traced.
  ValueId value() const noexcept { return value_; }
  void set_value(ValueId value) noexcept { value_ = value; }

  /// What a storage stands for, or nullptr where it is none.
  static StandIn* of(const tensor::Storage& storage) noexcept {
    return storage.absence() == tensor::Absence::kTraced
               ? static_cast<StandIn*>(storage.lent_owner())
               : nullptr;
  }
  /// A dense tensor without elements, in a storage of its own that stands for
  /// `value`. THROWS: OutOfMemory; ShapeError for a size beyond 64 bits.
  static Tensor make(const tensor::Spec& spec, const memory::Tag& tag,
                     TraceNumber trace, ValueId value);

 private:
  TraceNumber trace_;
  ValueId value_;
};

/// Bytes of a dense tensor. THROWS: ShapeError when they do not fit 64 bits.
Bytes dense_bytes(const tensor::Spec& spec);

}  // namespace neap::compiler
