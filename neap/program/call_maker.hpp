// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CallMaker: appends calls to a program in place of calls that it has, for
// passes that run a call for some of its rows or steps at a time.
#pragma once

#include <span>

#include "neap/program/program.hpp"

namespace neap::compiler {

class CallMaker {
 public:
  /// LIFETIME: the program outlives it.
  explicit CallMaker(Program& program) : program_(program) {}

 protected:
  using Operands = memory::Vector<Operand>;

  // Copies, since the tables grow.
  Call call(std::uint32_t i) const { return program_.calls[i]; }
  Operands in(std::uint32_t i) const;
  Operand out(std::uint32_t i, std::size_t k = 0) const {
    return program_.out(program_.calls[i])[k];
  }
  template <class T>
  T attrs(std::uint32_t i) const {
    return *static_cast<const T*>(program_.attrs_of(program_.calls[i]));
  }

  /// The one place that makes an operand.
  Operand view(ValueId id, const tensor::Layout& layout) {
    return {id, program_.keep(layout)};
  }
  Operand whole(ValueId id);
  Operand sliced(const Operand& operand, int axis, std::int64_t first,
                 std::int64_t count);

  /// All of a new value, named like another, of another shape.
  Operand fresh(ValueId like, DType dtype, const Shape& shape);
  /// The value after the next call that writes into it, or into rows of it.
  ValueId next_of(ValueId old);

  void add(Call call, std::span<const Operand> read,
           std::span<const Operand> made);
  /// A kernel that is no op's, at the place of another call.
  static Call kernel_like(Call call, const kernels::KernelList& list);
  /// A call of another op, without attributes.
  static Call op_like(Call call, const graph::Op& op);
  template <class T>
  void set_attrs(Call& call, const T& attrs) {
    call.attrs = program_.keep_attrs(call.op, attrs);
    call.attrs_size = sizeof(T);
  }
  ValueId zeros(std::uint32_t near, const Operand& operand);

  Program& program_;
};

}  // namespace neap::compiler
