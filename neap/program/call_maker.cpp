// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/call_maker.hpp"

#include "neap/ops/elementwise/fill.hpp"

namespace neap::compiler {

CallMaker::Operands CallMaker::in(std::uint32_t i) const {
  const auto read = program_.in(program_.calls[i]);
  return {read.begin(), read.end()};
}

Operand CallMaker::whole(ValueId id) {
  const tensor::Spec& spec = *program_[id].spec;
  return view(id, tensor::dense_layout(spec.dtype, spec.shape));
}

Operand CallMaker::sliced(const Operand& operand, int axis, std::int64_t first,
                          std::int64_t count) {
  return view(operand.value, tensor::sliced(operand.layout, axis,
                                            tensor::Range{first, 1, count}));
}

Operand CallMaker::fresh(ValueId like, DType dtype, const Shape& shape) {
  Value value = program_[like];
  ValueSpec spec = *value.spec;
  spec.dtype = dtype;
  spec.shape = shape;
  spec.size = shape.element_count() * size_of(dtype);
  value.spec = program_.keep(spec);
  value.over = kNoValue;
  return whole(program_.add(value));
}

ValueId CallMaker::next_of(ValueId old) {
  Value value = program_[old];
  value.over = old;
  return program_.add(value);
}

void CallMaker::add(Call call, std::span<const Operand> read,
                    std::span<const Operand> made) {
  call.inputs = program_.add(read);
  call.outputs = program_.add(made);
  for (const Operand& operand : made) {
    program_[operand.value].index =
        static_cast<std::uint32_t>(program_.calls.size());
  }
  program_.add(call);
}

Call CallMaker::kernel_like(Call call, const kernels::KernelList& list) {
  call.op = nullptr;
  call.name = list.name;
  call.kernels = &list;
  return call;
}

Call CallMaker::op_like(Call call, const graph::Op& op) {
  call.op = &op;
  call.name = op.name;
  call.kernels = op.kernel;
  call.reads_outputs = false;
  call.attrs = 0;
  call.attrs_size = 0;
  call.draw_at = -1;
  return call;
}

ValueId CallMaker::zeros(std::uint32_t near, const Operand& operand) {
  Call fill = op_like(call(near), ops::kFill);
  set_attrs(fill, ops::filled_attrs(program_[operand.value].spec, 0.0));
  add(fill, {}, std::span(&operand, 1));
  return operand.value;
}

}  // namespace neap::compiler
