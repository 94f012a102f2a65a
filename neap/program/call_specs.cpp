// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/call_specs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "neap/base/error.hpp"
#include "neap/kernels/loss/cross_entropy_rows.hpp"
#include "neap/kernels/norm/channel_norm_grad.hpp"
#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/kernels/reduction/sum_planes.hpp"
#include "neap/ops/rows.hpp"

namespace neap::compiler {
namespace {

constexpr std::array kKernelRules{
    KernelRule{&kernels::cross_entropy_rows_kernels,
               ops::rows_by_sample<0b11, 0b11>},
    KernelRule{&kernels::sum_rows_kernels, ops::rows_by_sample<0b1, 0>, true},
    KernelRule{&kernels::sum_planes_kernels, ops::rows_by_sample<0b1, 0>, true},
    KernelRule{&kernels::group_norm_sums_kernels, ops::rows_by_sample<0b111, 0>,
               true},
    KernelRule{&kernels::layer_norm_sums_kernels, ops::rows_by_sample<0b111, 0>,
               true},
    KernelRule{&kernels::rms_norm_sums_kernels, ops::rows_by_sample<0b111, 0>,
               true}};

tensor::Spec spec_of(const Program& program, const Operand& operand) {
  return {operand.layout->dtype, operand.layout->shape,
          program[operand.value].spec->space};
}

}  // namespace

KernelRule rule_of(const Call& call) {
  if (call.op != nullptr) {
    return {call.kernels, call.op->facts.rows};
  }
  const auto found =
      std::ranges::find(kKernelRules, call.kernels, &KernelRule::kernels);
  return found == kKernelRules.end() ? KernelRule{} : *found;
}

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
