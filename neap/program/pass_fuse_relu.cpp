// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A convolution whose sums only a relu reads ends in it:
//
//   %3 = conv2d(%0, %1, %2)
//   %4, %5 = relu_bits(%3)            %4, %5 = conv2d_relu_bits(%0, %1, %2)
//
// or, where no derivative is wanted, relu and conv2d_relu. The relu has moved
// to where the convolution stands, and reads nothing else.
#include <algorithm>
#include <numeric>
#include <string_view>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv2d_relu.hpp"
#include "neap/program/dataflow.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"

namespace neap::compiler {
namespace {

bool is_host_call(const Call& call, const graph::Op& op) {
  return call.kind == CallKind::kKernel && call.op == &op &&
         call.space == memory::kHost;
}

// The op of a convolution that ends in this call, or nullptr.
const graph::Op* joined_op(const Program& program, const Call& relu) {
  if (is_host_call(relu, ops::kRelu)) {
    return &ops::kConv2dRelu;
  }
  if (!is_host_call(relu, ops::kReluBits)) {
    return nullptr;
  }
  const auto& attrs =
      *static_cast<const kernels::SlopeAttrs*>(program.attrs_of(relu));
  return attrs.slope == 0.0 ? &ops::kConv2dReluBits : nullptr;
}

// The convolution that this relu can be the end of, or kNoCall.
std::uint32_t convolution_of(const Program& program, const Dataflow& flow,
                             const Call& relu) {
  const Operand& sums = program.in(relu)[0];
  const Value& value = program[sums.value];
  if (value.origin != Origin::kCall || value.index == kNoCall ||
      value.over != kNoValue || !is_whole(sums.layout, value.spec->size) ||
      sums.layout->shape != value.spec->shape || flow.outlives(sums.value) ||
      flow.heir(sums.value) != kNoValue ||
      flow.readers(sums.value).size() != 1) {
    return kNoCall;
  }
  const Call& conv = program.calls[value.index];
  const bool fits = is_host_call(conv, ops::kConv2d) &&
                    conv.segment == relu.segment && conv.stream == relu.stream;
  return fits ? value.index : kNoCall;
}

}  // namespace

void fuse_relu(Program& program) {
  // Another library's convolutions have bits of their own.
  if (std::string_view(kernels::kernel_set()) != "neap") {
    return;
  }
  const Dataflow flow(program);
  memory::Vector<std::uint32_t> order(program.calls.size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = 0; i < program.calls.size(); ++i) {
    Call relu = program.calls[i];
    const graph::Op* joined = joined_op(program, relu);
    const std::uint32_t at =
        joined != nullptr ? convolution_of(program, flow, relu) : kNoCall;
    if (at == kNoCall) {
      continue;
    }
    Call conv = program.calls[at];
    for (const Operand& out : program.out(relu)) {
      program[out.value].index = at;
    }
    std::swap(conv.outputs, relu.outputs);
    conv.op = joined;
    conv.name = conv.op->name;
    conv.kernels = conv.op->kernel;
    program.calls.set(at, conv);
    program.calls.set(i, relu);
    program[program.out(relu)[0].value].index = i;
    std::erase(order, i);
  }
  if (order.size() != program.calls.size()) {
    keep_calls(program, order);
    tidy(program);
  }
}

}  // namespace neap::compiler
