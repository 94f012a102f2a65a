// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/raise.hpp"
#include "neap/graph/into_impl.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/memory/containers.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

void check_into(const OpCall& call, const Spec& result, const Tensor& dst) {
  if (call.op.view != nullptr || call.op.outputs != 1) {
    base::raise<ValueError>("{}: has no form that writes into a tensor",
                            call.op.name);
  }
  if (!(dst.spec() == result)) {
    base::raise<ShapeError>("{}: a result {} {} into a tensor {} {}",
                            call.op.name, name_of(result.dtype),
                            format_shape(result.shape), name_of(dst.dtype()),
                            format_shape(dst.shape()));
  }
  if (!dst.is_contiguous()) {
    base::raise<ShapeError>(
        "{}: into a view with gaps {}, write to a tensor without and copy_",
        call.op.name, format_shape(dst.shape()));
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& input = call.inputs[i].tensor();
    const bool may =
        i < 32 && (call.op.facts.donates >> i & 1U) != 0 &&
        input.spec() == result && input.is_contiguous() &&
        input.array()->layout().offset == dst.array()->layout().offset;
    if (input.array()->storage() == dst.array()->storage() && !may) {
      base::raise<ValueError>(
          "{}: input {} lies in the memory that the result is written to",
          call.op.name, i);
    }
  }
}

namespace {

// Whether a call is its kernel and plain bytes, so that a write can stand for
// it, which knows no op.
bool is_plain(const Op& op) noexcept {
  return !op.transfer && op.count == nullptr && op.copy_attrs == nullptr &&
         op.drop_attrs == nullptr && op.facts.draw_at < 0;
}

Spec result_of(const OpCall& call) {
  memory::Vector<Spec> specs;
  specs.reserve(call.inputs.size());
  for (const Operand& input : call.inputs) {
    specs.push_back(input.tensor().spec());
    if (specs.back().space != specs.front().space) {
      base::raise<DeviceError>(
          "{}: operands lie in memory spaces {} and {}, copy one to the "
          "other's first",
          call.op.name, specs.front().space.value, specs.back().space.value);
    }
  }
  Spec result;
  if (!specs.empty()) {
    result.space = specs.front().space;
  }
  if (call.op.outputs == 1) {
    call.op.infer({call.op.name, specs, call.attrs}, std::span(&result, 1));
  }
  return result;
}

// The call, and a copy of what it gives.
void write_result(Trace& trace, const OpCall& call, const Tensor& dst) {
  const NoGrad guard;
  Tensor result;
  tensor::thread_execution().recorder->record(call, std::span(&result, 1));
  trace.write({.name = "copy_",
               .list = kernels::copy_kernels,
               .in = std::span(&result, 1),
               .out = std::span(&dst, 1),
               .attrs = {},
               .reads_out = false,
               .site = call.site});
}

}  // namespace

void write_into(Trace& trace, const OpCall& given, const Tensor& dst) {
  const std::optional<DType> dtype = trace.dtype_of_numbers(given);
  memory::Vector<Tensor> inputs;
  memory::Vector<Operand> operands;
  inputs.reserve(given.inputs.size());  // they are pointed to
  operands.reserve(given.inputs.size());
  for (const Operand& input : given.inputs) {
    inputs.push_back(dtype ? trace.number_as(*dtype, input.tensor(), given.site)
                           : input.tensor());
    operands.emplace_back(std::as_const(inputs.back()), input.site());
  }
  const OpCall call{given.op, operands, given.attrs, given.site};
  check_into(call, result_of(call), dst);
  if (!is_plain(call.op)) {
    write_result(trace, call, dst);
    return;
  }
  trace.write({.name = call.op.name,
               .list = *call.op.kernel,
               .in = inputs,
               .out = std::span(&dst, 1),
               .attrs = call.attrs,
               .reads_out = false,
               .site = call.site});
}

}  // namespace neap::graph
