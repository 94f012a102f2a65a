// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter.hpp"

#include "neap/kernels/indexing/scatter.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/number_check.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;

int axis_of(const AxisAttrs& attrs) noexcept {
  return static_cast<int>(attrs.axis);
}

// A number, broadcast.
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
              .rows = rows_of_scatter,
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
  Tensor from;
  if (src.is_number()) {
    tensor::check_number("scatter", src.number(), onto.dtype());
    from = ops::repeated(src.number(), onto, at.shape(), src.site());
  } else {
    from = src.tensor();
  }
  const int along = ops::check_scatter("scatter", onto, axis, at, from);
  return ops::scatter_checked(x, along, index, ops::cut_to(from, at.shape()));
}

void scatter_(const Tensor& x, std::int64_t axis, const Tensor& index,
              const Tensor& src, CallSite site) {
  const ops::AtSite here(Operand(x, site));
  const int along = ops::check_scatter("scatter_", x, axis, index, src);
  compute_into(x, ops::kScatter, {x, index, ops::cut_to(src, index.shape())},
               kernels::AxisAttrs{along});
}

namespace ops {
namespace {

void infer_scatter_add(const OpArgs& args, std::span<Spec> out) {
  check_signed(args.name, args.inputs[0].dtype);
  infer_scatter(args, out);
}

void vjp_scatter_add(VjpContext& c) {
  if (c.needs(2)) {
    c.set(2, gather_checked(c.cotangent(), axis_of(c.attrs<AxisAttrs>()),
                            c.input(1)));
  }
  if (c.needs(0)) {
    c.set(0, c.take_cotangent());
  }
}

void jvp_scatter_add(JvpContext& c) {
  const Tensor& dx = c.tangent(0);
  const Tensor& dsrc = c.tangent(2);
  if (!dsrc.defined()) {
    c.set(0, dx);
    return;
  }
  const int axis = axis_of(c.attrs<AxisAttrs>());
  c.set(0, dx.defined() ? scatter_add_checked(dx, axis, c.input(1), dsrc)
                        : scatter_add_checked(
                              filled(c.input_spec(0), 0.0, CallSite::here()),
                              axis, c.input(1), dsrc));
}

}  // namespace

const Op kScatterAdd{
    .name = "scatter_add",
    .formula = "y = x; y[.., index[.., i, ..], ..] += src[.., i, ..]",
    .infer = infer_scatter_add,
    .kernel = &kernels::scatter_add_kernels,
    .vjp = vjp_scatter_add,
    .jvp = jvp_scatter_add,
    .facts = {.vjp_reads = {{{}, {}, {.inputs = 0b010}}},
              .donates = 0b001,
              .rows = rows_of_scatter_add,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              args.inputs[2].shape.element_count());
              }}};

Tensor scatter_add_checked(const Operand& x, int axis, const Operand& index,
                           const Operand& src) {
  return graph::apply(kScatterAdd, {x, index, src}, AxisAttrs{axis});
}

}  // namespace ops

Tensor scatter_add(const Operand& x, std::int64_t axis, const Operand& index,
                   const Operand& src) {
  const ops::AtSite here(x);
  const Tensor& at = ops::tensor_of("scatter_add", index);
  const int along =
      ops::check_scatter("scatter_add", ops::tensor_of("scatter_add", x), axis,
                         at, ops::tensor_of("scatter_add", src));
  return ops::scatter_add_checked(x, along, index,
                                  ops::cut_to(src, at.shape()));
}

void scatter_add_(const Tensor& x, std::int64_t axis, const Tensor& index,
                  const Tensor& src, CallSite site) {
  const ops::AtSite here(Operand(x, site));
  const int along = ops::check_scatter("scatter_add_", x, axis, index, src);
  compute_into(x, ops::kScatterAdd, {x, index, ops::cut_to(src, index.shape())},
               kernels::AxisAttrs{along});
}

namespace ops {
namespace {

void infer_take(const OpArgs& args, std::span<Spec> out) {
  const Spec& g = args.inputs[0];
  check_computes(args.name, g.dtype);
  check_index_shape(args.name, g, args.inputs[1],
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
              .rows = rows_beside_axis,
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

}  // namespace ops

}  // namespace neap
