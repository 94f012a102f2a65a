// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TracedValues: which value of the program each storage holds at the moment,
// while a step is traced. A storage is one of three things:
//
//   a stand-in   made by a traced call, or an argument: its owner knows
//   made         while the step was traced, by the host: a constant
//   external     there before: a parameter, state, what the step captured
//
// For sources of this room.
#pragma once

#include <array>
#include <string_view>
#include <unordered_map>

#include "neap/base/function_ref.hpp"
#include "neap/compile/stand_in.hpp"
#include "neap/graph/versions.hpp"

namespace neap::compiler {

class TracedValues {
 public:
  /// `trace`: the number of the one that the stand-ins are of.
  TracedValues(Program& program, TraceNumber trace);

  TraceNumber trace() const noexcept { return number_; }
  StandInList& stand_ins() noexcept { return stand_ins_; }
  /// The earliest stand-in that is still there, or nullptr.
  const StandIn* first_kept() const noexcept;

  /// The tensor as `what` at `site` reads it. A storage that the program has
  /// not met becomes an external of it. THROWS: TraceError for a stand-in of
  /// another trace; UseAfterRelease for a revoked storage; OutOfMemory.
  Operand operand(const Tensor& tensor, std::string_view what,
                  base::SiteId site);
  /// A new argument of the program, and its first value; with `layout` one
  /// that is read as a view with gaps.
  Tensor add_argument(const tensor::Spec& spec, const tensor::Layout* layout,
                      base::SiteId site);

  /// `tensor` was made by the host. It is held until the trace is over.
  void add_made(const Tensor& tensor);
  bool is_made(const Tensor& tensor) const;
  /// Whether a traced call has read a storage that the host made.
  bool is_used(const Tensor& tensor) const;
  /// Whether a traced call has written it.
  bool is_written(const Tensor& tensor) const;

  /// True where a write would change a constant of the program: it is to be
  /// copied, and the copy is what the storage holds from then on.
  bool is_constant(const Tensor& tensor) const;
  /// Lets `tensor`'s storage hold `value` from now on; of an external, notes
  /// that it is written. REQUIRES: operand() was called for it.
  void set_value(const Tensor& tensor, ValueId value, bool is_copy) noexcept;
  /// Counts a write of the trace into the storage. What exists outside of it
  /// keeps its version. REQUIRES: operand() was called for it.
  void count_write(const Tensor& tensor, base::SiteId site) noexcept;
  graph::TracedWrites::Seen writes_to(
      const tensor::Storage& storage) const noexcept;

  /// The first value of a storage that is an external, or none.
  ValueId entry_of(const Tensor& tensor) const {
    return entry_of(*tensor.array()->storage());
  }
  ValueId entry_of(const tensor::Storage& storage) const noexcept;
  /// Whether handles of `body` may have led to it.
  bool is_met_by(const tensor::Storage& storage,
                 const tensor::Body* body) const noexcept;
  /// Whether a handle that was there before the step, of a body that
  /// `is_known` denies, may have led to the storage, too.
  bool is_met_otherwise(
      const tensor::Storage& storage,
      base::FunctionRef<bool(const tensor::Body*)> is_known) const noexcept;

 private:
  struct Known {
    bool is_made = false;
    ValueId first = kNoValue;  // none until a call uses it
    ValueId current = kNoValue;
    graph::TracedWrites::Seen writes;
    // Bodies that led to the storage and were there before the step.
    std::array<const tensor::Body*, 2> bodies{};
    bool has_more_bodies = false;
  };
  void note_body(const Tensor& tensor, Known& known) noexcept;
  const Known* find(const Tensor& tensor) const;
  ValueId value_of(const Tensor& tensor, std::string_view what,
                   base::SiteId site);
  void add_external(const Tensor& tensor, Known& known);

  using Map = std::unordered_map<
      const tensor::Storage*, Known, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const tensor::Storage* const, Known>>>;

  Program& program_;
  memory::Domain& domain_;
  TraceNumber number_;
  StandInList stand_ins_;
  Map known_;
  memory::Vector<Tensor> made_;  // so that no address means two storages
};

}  // namespace neap::compiler
