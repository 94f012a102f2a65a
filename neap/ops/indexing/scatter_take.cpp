// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter_take.hpp"

#include "neap/kernels/indexing/scatter.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/indexing/scatter.hpp"

namespace neap::ops {
namespace {

using kernels::AxisAttrs;

int axis_of(const AxisAttrs& attrs) noexcept {
  return static_cast<int>(attrs.axis);
}

void infer_take(const OpArgs& args, std::span<Spec> out) {
  const Spec& g = args.inputs[0];
  check_computes("scatter_take", g.dtype);
  check_index_shape("scatter_take", g, args.inputs[1],
                    axis_of(args.attrs.as<AxisAttrs>()));
  out[0].dtype = out[1].dtype = g.dtype;
  out[0].shape = g.shape;
  out[1].shape = args.inputs[1].shape;
}

void vjp_take(VjpContext& c) {
  const Tensor index = c.input(1);
  const bool has_rest = c.cotangent(0).defined();
  const bool has_taken = c.cotangent(1).defined();
  const Tensor& known = c.cotangent(has_rest ? 0 : 1);
  const auto zero = [&](const Shape& shape) {
    return filled({known.dtype(), shape, known.space()}, 0.0, CallSite::here());
  };
  const Tensor taken = has_taken ? c.cotangent(1) : zero(index.shape());
  Tensor rest = has_rest ? Tensor() : zero(c.input_shape(0));
  c.set(0, scatter_checked(has_rest ? c.take_cotangent(0) : std::move(rest),
                           axis_of(c.attrs<AxisAttrs>()), index, taken));
}

}  // namespace

const Op kScatterTake{
    .name = "scatter_take",
    .formula = "y, src with <(y, src), (a, b)> = <x, scatter(a, index, b)>",
    .outputs = 2,
    .infer = infer_take,
    .kernel = &kernels::scatter_take_kernels,
    .vjp = vjp_take,
    .jvp =
        [](JvpContext& c) {
          if (c.tangent().defined()) {
            auto [rest, taken] = scatter_take(
                c.tangent(), axis_of(c.attrs<AxisAttrs>()), c.input(1));
            c.set(0, std::move(rest));
            c.set(1, std::move(taken));
          }
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10, .shapes = 0b01}, {}}},
              .donates = 0b01,
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

std::pair<Tensor, Tensor> scatter_take(const Operand& g, int axis,
                                       const Operand& index) {
  std::array<Tensor, 2> outputs;
  const std::array<Operand, 2> inputs{g, index};
  graph::dispatch(kScatterTake, inputs, AxisAttrs{axis}, g.site(), outputs);
  return {std::move(outputs[0]), std::move(outputs[1])};
}

}  // namespace neap::ops
