// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter.hpp"

#include "neap/kernels/indexing/scatter.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/indexing/scatter_take.hpp"
#include "neap/ops/shape/expand.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;

int axis_of(const AxisAttrs& attrs) noexcept {
  return static_cast<int>(attrs.axis);
}

// One number, everywhere.
Tensor repeated(double value, const Tensor& x, const Shape& shape,
                const CallSite& site) {
  return expand(constant(value, x.dtype(), x.space(), site), shape);
}

// dx keeps dy but where something was put; dsrc takes it from where it stayed.
void vjp_scatter(VjpContext& c) {
  const int axis = axis_of(c.attrs<AxisAttrs>());
  const Tensor index = c.input(1);
  if (c.needs(2)) {
    const auto parts = scatter_take(c.take_cotangent(), axis, index);
    c.set(2, parts.second);
    if (c.needs(0)) {
      c.set(0, parts.first);
    }
  } else if (c.needs(0)) {
    Tensor zero = repeated(0.0, c.cotangent(), index.shape(), CallSite::here());
    c.set(0, scatter_checked(c.take_cotangent(), axis, index, zero));
  }
}

void jvp_scatter(JvpContext& c) {
  const auto or_zero = [&](int i) {
    const Spec like = c.input_spec(i);
    return c.tangent(i).defined()
               ? c.tangent(i)
               : expand(constant(0.0, like.dtype, like.space, CallSite::here()),
                        like.shape);
  };
  c.set(0, scatter_checked(or_zero(0), axis_of(c.attrs<AxisAttrs>()),
                           c.input(1), or_zero(2)));
}

}  // namespace

const Op kScatter{
    .name = "scatter",
    .formula = "y = x; y[.., index[.., i, ..], ..] = src[.., i, ..]",
    .infer = infer_scatter,
    .kernel = &kernels::scatter_kernels,
    .vjp = vjp_scatter,
    .jvp = jvp_scatter,
    .facts = {.vjp_reads = {{{.inputs = 0b010}, {}, {.inputs = 0b010}}},
              .donates = 0b001,
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

Tensor scatter_checked(const Operand& x, int axis, const Operand& index,
                       const Operand& src) {
  return graph::apply(kScatter, {x, index, src}, AxisAttrs{axis});
}

}  // namespace ops

Tensor scatter(const Operand& x, std::int64_t axis, const Operand& index,
               const Operand& src) {
  const ops::AtSite here(x);
  const Tensor& onto = ops::tensor_of("scatter", x);
  const Tensor& at = ops::tensor_of("scatter", index);
  const Tensor from = src.is_number() ? ops::repeated(src.number(), onto,
                                                      at.shape(), src.site())
                                      : src.tensor();
  const int along = ops::check_scatter("scatter", onto, axis, at, from);
  return ops::scatter_checked(x, along, index, ops::cut_to(from, at.shape()));
}

}  // namespace neap
