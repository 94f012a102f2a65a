// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/call_specs.hpp"

#include <string_view>

#include "neap/base/error.hpp"

namespace neap::compiler {
namespace {

tensor::Spec spec_of(const Program& program, const Operand& operand) {
  return {operand.layout->dtype, operand.layout->shape,
          program[operand.value].spec->space};
}

}  // namespace

CallSpecs::CallSpecs(const Program& program, const Call& call)
    : op_(call.op), attrs_(program.attrs_of(call), call.attrs_size) {
  for (const Operand& in : program.in(call)) {
    inputs_.push_back(spec_of(program, in));
  }
  for (const Operand& out : program.out(call)) {
    outputs_.push_back(spec_of(program, out));
  }
}

void CallSpecs::cut(const RowForm& form, std::span<const int> axes,
                    std::int64_t count) {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (axes[k] >= 0) {
      inputs_[k].shape = cut_shape(inputs_[k].shape, {axes[k], form}, count);
    }
  }
}

graph::OpArgs CallSpecs::args() const {
  return {op_ == nullptr ? std::string_view() : op_->name, inputs_, attrs_};
}

bool CallSpecs::infer(std::span<tensor::Spec> out) const {
  try {
    op_->infer(args(), out);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace neap::compiler
