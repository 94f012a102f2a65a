// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include "neap/memory/scope.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/dataflow.hpp"
#include "neap/program/interpret.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"

namespace neap::compiler {
namespace {

constexpr Bytes kMostEach = 4 * 1024;
constexpr Bytes kMostTogether = 64 * 1024;

class Folder {
 public:
  explicit Folder(Program& program) : program_(program), flow_(program) {}

  void run() {
    const memory::OutsideScopes outside;
    memory::Vector<std::uint32_t> order;
    order.reserve(program_.calls.size());
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      if (may_fold(program_.calls[i])) {
        fold(program_.calls[i]);
      } else {
        order.push_back(i);
      }
    }
    if (order.size() != program_.calls.size()) {
      keep_calls(program_, order);
      tidy(program_);
    }
  }

 private:
  bool is_constant(ValueId id) const {
    const Value& value = program_[id];
    return value.origin == Origin::kExternal &&
           program_.externals[value.index].is_constant &&
           flow_.heir(id) == kNoValue;
  }

  bool may_fold(const Call& call) const {
    if (call.kind != CallKind::kKernel || call.op == nullptr ||
        call.op->facts.effect != graph::Effect::kPure ||
        call.op->count != nullptr ||  // a rule may hold tensors that change
        call.kernels == nullptr || call.listener != nullptr ||
        call.space != memory::kHost || call.outputs.count == 0 ||
        call.outputs.count > graph::kMaxOutputs) {
      return false;
    }
    for (const Operand& in : program_.in(call)) {
      if (!is_constant(in.value)) {
        return false;
      }
    }
    Bytes sum = together_;
    for (const Operand& out : program_.out(call)) {
      const Value& value = program_[out.value];
      sum += value.size;
      // A value that is written over, or given away to be written into, must be
      // computed anew in every run.
      if (value.size > kMostEach || sum > kMostTogether ||
          value.over != kNoValue || flow_.heir(out.value) != kNoValue ||
          flow_.outlives(out.value) || !is_whole(out.layout, value.size)) {
        return false;
      }
    }
    return true;
  }

  // Outputs get their elements here; then their values are externals.
  void fold(const Call& call) {
    memory::Vector<tensor::Strided> in;
    for (const Operand& operand : program_.in(call)) {
      const Tensor& constant =
          program_.externals[program_[operand.value].index].tensor;
      in.push_back(view_of(operand, constant.array()->storage()->data()));
    }
    std::array<Tensor, graph::kMaxOutputs> made;
    std::array<tensor::Strided, graph::kMaxOutputs> out;
    for (std::uint32_t k = 0; k < call.outputs.count; ++k) {
      const Value& value = program_[program_.out(call)[k].value];
      const memory::Tag tag{value.category, value.spec->space, value.owner,
                            value.site};
      made[k] =
          Tensor(tensor::Array::allocate(value.spec, tag, memory::domain()));
      out[k] = made[k].array()->strided();
    }
    if (made[0].array()->storage()->has_elements()) {  // no rehearsal
      run_call(program_, call, in, std::span(out).first(call.outputs.count),
               program_.attrs_of(call));
    }
    for (std::uint32_t k = 0; k < call.outputs.count; ++k) {
      Value& value = program_[program_.out(call)[k].value];
      value.origin = Origin::kExternal;
      value.index = static_cast<std::uint32_t>(program_.externals.size());
      together_ += value.size;
      program_.externals.push_back(
          {.tensor = std::move(made[k]), .is_constant = true});
    }
  }

  Program& program_;
  Dataflow flow_;
  Bytes together_ = 0;
};

}  // namespace

void fold_constants(Program& program) {
  Folder(program).run();
}

}  // namespace neap::compiler
