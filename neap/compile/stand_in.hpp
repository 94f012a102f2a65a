// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StandIn: what a storage without elements stands for: a value of a program
// that is being traced. It refers to the trace by number, so that a handle
// which outlives it finds nothing to follow.
#pragma once

#include "neap/program/program.hpp"

namespace neap::compiler {

/// The number of a trace, as graph::Trace::number() has it.
using TraceNumber = base::StrongId<struct TraceNumberTag, std::uint64_t>;

class StandIn;

/// The stand-ins of a trace that are there, the latest first.
class StandInList {
 public:
  StandInList() = default;
  ~StandInList();
  StandInList(const StandInList&) = delete;
  StandInList& operator=(const StandInList&) = delete;

  const StandIn* latest() const noexcept { return latest_; }

 private:
  friend class StandIn;
  StandIn* latest_ = nullptr;
};

/// Thread rule: made and destroyed by the thread that traces, while the trace
/// goes on; from then on by any.
class StandIn final : public tensor::LentOwner {
 public:
  StandIn(TraceNumber trace, ValueId value, StandInList& list) noexcept;
  ~StandIn() override;
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// Made before this one, and there; nullptr: none.
  const StandIn* earlier() const noexcept { return earlier_; }

  TraceNumber trace() const noexcept { return trace_; }
  /// The storage's elements, as of the latest write that was traced.
  ValueId value() const noexcept { return value_; }
  void set_value(ValueId value) noexcept { value_ = value; }

  /// The stand-in that a storage is, or nullptr where it is none.
  static StandIn* of(const tensor::Storage& storage) noexcept {
    return storage.absence() == tensor::Absence::kTraced
               ? static_cast<StandIn*>(storage.lent_owner())
               : nullptr;
  }
  /// A tensor without elements (dense, unless a layout is given), in a storage
  /// of its own that stands for `value`.
  /// THROWS: OutOfMemory; ShapeError for a size beyond 64 bits.
  static Tensor make(const tensor::Spec& spec, const tensor::Layout* layout,
                     const memory::Tag& tag, TraceNumber trace, ValueId value,
                     StandInList& list);

 private:
  friend class StandInList;
  TraceNumber trace_;
  ValueId value_;
  StandInList* list_;  // nullptr: the trace is over
  StandIn* earlier_;
  StandIn* later_ = nullptr;
};

/// Bytes of a dense tensor. THROWS: ShapeError when they do not fit 64 bits.
Bytes dense_bytes(const tensor::Spec& spec);

}  // namespace neap::compiler
