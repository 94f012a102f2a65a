// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Programs made by hand, call by call, for tests.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/optim/sgd.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/program/verify.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {

/// An optimizer that changes nothing from run to run.
class StillListener final : public graph::RunListener {
 public:
  void write_attrs(std::uint32_t /*index*/,
                   void* /*attrs*/) const noexcept override {}
};

class ProgramMaker {
 public:
  Program program;
  StillListener listener;

  ValueId argument(const Shape& shape) {
    const tensor::Spec spec{DType::kF32, shape};
    program.arguments.push_back(spec);
    return add(spec, Origin::kArgument, program.arguments.size() - 1);
  }

  ValueId external(const Tensor& tensor, bool is_constant = false) {
    program.externals.push_back({.tensor = tensor, .is_constant = is_constant});
    return add(tensor.spec(), Origin::kExternal, program.externals.size() - 1);
  }
  ValueId parameter(const Shape& shape) { return external(ones(shape)); }
  ValueId constant(double value) { return external(scalar(value), true); }

  Operand all_of(ValueId id) {
    const tensor::Spec& spec = program[id].spec;
    return view(id, tensor::dense_layout(spec.dtype, spec.shape));
  }
  Operand view(ValueId id, const tensor::Layout& layout) {
    return {id, program.keep(layout)};
  }

  /// Lets an operand be another view of its value.
  template <class Change>
  void relayout(Operand& operand, const Change& change) {
    tensor::Layout layout = operand.layout;
    change(layout);
    operand.layout = program.keep(layout);
  }
  Operand turned(ValueId id) {
    Operand operand = all_of(id);
    operand.layout = program.keep(tensor::permuted(operand.layout, {1, 0}));
    return operand;
  }

  /// Adds a call of the op on whole values; returns its first output.
  ValueId call(const graph::Op& op, std::initializer_list<ValueId> inputs,
               const graph::Attrs& attrs = {}) {
    memory::Vector<Operand> in;
    for (const ValueId id : inputs) {
      in.push_back(all_of(id));
    }
    return call_on(op, in, attrs);
  }
  ValueId call_on(const graph::Op& op, std::span<const Operand> in,
                  const graph::Attrs& attrs = {}) {
    memory::Vector<tensor::Spec> specs;
    for (const Operand& operand : in) {
      specs.push_back({operand.layout->dtype, operand.layout->shape,
                       program[operand.value].spec->space});
    }
    std::array<tensor::Spec, graph::kMaxOutputs> made;
    op.infer({op.name, specs, attrs},
             std::span(made).first(static_cast<std::size_t>(op.outputs)));
    memory::Vector<Operand> out;
    for (int k = 0; k < op.outputs; ++k) {
      out.push_back(all_of(add(made[static_cast<std::size_t>(k)], Origin::kCall,
                               program.calls.size())));
    }
    Call call;
    call.name = op.name;
    call.op = &op;
    call.kernels = op.kernel;
    call.draw_at = op.facts.draw_at;
    finish(call, in, out, attrs);
    return out[0].value;
  }

  ValueId fill(const Shape& shape, double value) {
    ops::FilledAttrs attrs;
    attrs.fill.value = value;
    std::copy(shape.begin(), shape.end(), attrs.extents.begin());
    attrs.rank = shape.rank();
    return call(ops::kFill, {}, attrs);
  }

  /// A step of plain descent: a write over `parameter` that reads `gradient`.
  ValueId update(ValueId parameter, ValueId gradient) {
    kernels::SgdAttrs attrs;
    attrs.lr = 0.5;
    Call call;
    call.name = "sgd";
    call.kernels = &kernels::sgd_kernels;
    call.listener = &listener;
    call.reads_outputs = true;
    return write(call, parameter, {gradient}, attrs);
  }

  /// Any call that writes over all of `old`.
  ValueId write(Call call, ValueId old, std::initializer_list<ValueId> inputs,
                const graph::Attrs& attrs = {}) {
    memory::Vector<Operand> in;
    for (const ValueId id : inputs) {
      in.push_back(all_of(id));
    }
    const ValueId made =
        add(program[old].spec, Origin::kCall, program.calls.size());
    program[made].over = old;
    ValueId root = old;
    while (program[root].over != kNoValue) {
      root = program[root].over;
    }
    if (program[root].origin == Origin::kExternal) {
      program.externals[program[root].index].is_written = true;
    }
    const std::array out{all_of(made)};
    finish(call, in, out, attrs);
    return made;
  }

  void check(ValueId id) {
    Call call;
    call.kind = CallKind::kCheck;
    call.name = "check";
    call.look = [](const char* /*op*/,
                   std::span<const tensor::Strided> /*values*/,
                   const graph::Attrs& /*attrs*/) {};
    const std::array in{all_of(id)};
    finish(call, in, {}, {});
  }

  /// A move of all of a value, to or from the one slot that there is.
  void move(CallKind kind, ValueId id) {
    if (program.slots.empty()) {
      program.slots.push_back({0, kSpillUnit});
    }
    Call call;
    call.kind = kind;
    call.name = "move";
    const std::array bytes{view(
        id, tensor::dense_layout(DType::kU8, Shape{program[id].spec->size}))};
    if (kind == CallKind::kFetch) {
      finish(call, {}, bytes, {});
    } else {
      finish(call, bytes, {}, {});
    }
  }
  /// The value once more, from the file.
  ValueId fetch(ValueId id) {
    const ValueId made =
        add(program[id].spec, Origin::kCall, program.calls.size());
    move(CallKind::kFetch, made);
    return made;
  }

  void result(ValueId id, bool is_kept = false) {
    program.results.push_back({all_of(id), is_kept});
  }

 private:
  ValueId add(const tensor::Spec& spec, Origin origin, std::size_t index) {
    Value value;
    value.spec =
        program.keep({spec, spec.shape.element_count() * size_of(spec.dtype)});
    value.origin = origin;
    value.index = static_cast<std::uint32_t>(index);
    return program.add(value);
  }
  void finish(Call& call, std::span<const Operand> in,
              std::span<const Operand> out, const graph::Attrs& attrs) {
    call.inputs = program.add(in);
    call.outputs = program.add(out);
    call.attrs = program.keep_attrs(call.op, attrs);
    call.attrs_size = attrs.size();
    program.add(call);
  }
};

/// The names of the calls in order: "matmul relu sgd".
inline std::string names_of(const Program& program) {
  std::string out;
  for (const Call& call : program.calls) {
    out += out.empty() ? "" : " ";
    out += call.name;
  }
  return out;
}

/// Runs a pass, after which the program is whole and its effects stand in line.
inline void run_checked(void (*pass)(Program&), Program& program) {
  const EffectOrder order(program);
  pass(program);
  EXPECT_EQ(fault_of(program), "");
  EXPECT_EQ(order.fault_of(program), "");
}

}  // namespace neap::compiler
