// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/digest.hpp"

#include "neap/program/hash.hpp"

namespace neap::compiler {
namespace {

void add(const tensor::Spec& spec, Hash& hash) {
  hash.add(spec.dtype);
  hash.add(spec.shape.rank());
  for (int axis = 0; axis < spec.shape.rank(); ++axis) {
    hash.add(spec.shape[axis]);
  }
}

void add(std::span<const Operand> operands, Hash& hash) {
  hash.add(operands.size());
  for (const Operand& operand : operands) {
    hash.add(operand.value.value);
    if (operand.value != kNoValue) {
      hash.add(operand.layout->shape.rank());
      hash.add(operand.layout);
    }
  }
}

void add_values(const Program& program, Hash& hash) {
  hash.add(program.values.size());
  for (const Value& value : program.values) {
    add(*value.spec, hash);
    hash.add(value.spec->size);
    hash.add(value.origin);
    hash.add(value.over.value);
    if (value.origin == Origin::kExternal) {
      const External& external = program.externals[value.index];
      hash.add(external.is_written);
      hash.add(external.is_constant);
    }
  }
}

}  // namespace

std::uint64_t structure_digest(const Program& program) noexcept {
  Hash hash;
  hash.add(program.arguments.size());
  for (const tensor::Spec& spec : program.arguments) {
    add(spec, hash);
  }
  add_values(program, hash);
  hash.add(program.calls.size());
  for (const Call& call : program.calls) {
    hash.add(call.name.size());
    hash.add(call.name.data(), call.name.size());
    hash.add(call.kind);
    hash.add(call.space.value);
    add(program.in(call), hash);
    add(program.out(call), hash);
  }
  hash.add(program.results.size());
  for (const Result& result : program.results) {
    add(std::span(&result.operand, 1), hash);
    hash.add(result.is_kept);
  }
  hash.add(program.grads.size());
  for (const LeafGrad& grad : program.grads) {
    hash.add(grad.is_set);
    hash.add(grad.entry.value);
    add(std::span(&grad.last, 1), hash);
  }
  return hash.get();
}

}  // namespace neap::compiler
