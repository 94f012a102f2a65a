// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/rnn.hpp"

#include "neap/kernels/sequence/rnn.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/sequence/recurrent_grads.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {
namespace {

// Takes a derivative by the sum to one by h = y, or back.
Tensor sloped(const Tensor& d, const Tensor& y, bool is_relu) {
  return is_relu ? where(le(y, 0.0), 0.0, d) : d * (1.0 - square(y));
}

// rnn_grad in plain ops.
std::array<Tensor, 2> grad_by_steps(const RecurrentGradInputs& in,
                                    const RecurrentAttrs& attrs) {
  const Shape& shape = in.kept.shape();
  const StepOrder order(shape[0], attrs.is_reverse);
  Tensor dh = add_defined(zeros_of({shape[1], shape[2]}, in.kept), in.dh);
  memory::Vector<Tensor> made(static_cast<std::size_t>(shape[0]));
  for (std::int64_t s = order.count() - 1; s >= 0; --s) {
    const std::int64_t t = order.time(s);
    dh = add_defined(std::move(dh), at_time(in.dy, t));
    Tensor ds = sloped(dh, at_time(in.kept, t), attrs.is_relu);
    dh = matmul(ds, in.w_hh);
    made[static_cast<std::size_t>(t)] = std::move(ds);
  }
  return {stack(made), std::move(dh)};
}

void vjp_rnn(VjpContext& c) {
  const auto attrs = c.attrs<RecurrentAttrs>();
  const UsePrecision same(attrs.precision);
  RecurrentGradInputs in{.kept = c.output(0),
                         .w_hh = c.input(2),
                         .dy = c.take_cotangent(0),
                         .dh = c.take_cotangent(1)};
  const bool wants = attrs.has_state && c.needs(4);
  std::array<Tensor, 2> d =
      is_differentiated(in)
          ? grad_by_steps(in, attrs)
          : rnn_grad(std::move(in), {.is_reverse = attrs.is_reverse,
                                     .is_relu = attrs.is_relu,
                                     .wants_state = wants});
  in = {};
  set_weight_cotangents(c, d[0], 1);
  if (wants) {
    c.set(4, std::move(d[1]));
  }
}

void jvp_rnn(JvpContext& c) {
  const auto& attrs = c.attrs<RecurrentAttrs>();
  const UsePrecision same(attrs.precision);
  const Tensor& y = c.output(0);
  const StepOrder order(y.shape()[0], attrs.is_reverse);
  const Tensor sums = input_tangent(c, 1) + weight_tangent(c, 1);
  Tensor dh = zeros_of({y.shape()[1], y.shape()[2]}, y);
  if (attrs.has_state) {
    dh = add_defined(std::move(dh), c.tangent(4));
  }
  memory::Vector<Tensor> made(static_cast<std::size_t>(order.count()));
  for (std::int64_t s = 0; s < order.count(); ++s) {
    const std::int64_t t = order.time(s);
    dh = sloped(at_time(sums, t) + matmul(dh, transpose(c.input(2))),
                at_time(y, t), attrs.is_relu);
    made[static_cast<std::size_t>(t)] = dh;
  }
  c.set(0, stack(made));
  c.set(1, std::move(dh));
}

}  // namespace

const Op kRnn{
    .name = "rnn",
    .formula = "h_t = tanh(x_t w_ih^T + bias + h_(t-1) w_hh^T), or max(0, ..)",
    .outputs = 2,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_recurrent(args, {}, out); },
    .kernel = &kernels::rnn_kernels,
    .vjp = vjp_rnn,
    .jvp = jvp_rnn,
    .facts = {.vjp_reads = {{{.inputs = 0b00110, .outputs = 0b1},
                             {.inputs = 0b00101, .outputs = 0b1},
                             {.inputs = 0b10100, .outputs = 0b1},
                             {.inputs = 0b00100, .outputs = 0b1}}},
              .takes_dense = true,
              .rows = rows_of_recurrence,
              .cost = recurrent_cost}};

}  // namespace ops

RecurrentResult rnn(const Operand& x, const RecurrentWeights& weights,
                    const Tensor& h0, const RnnOptions& options) {
  ops::tensor_of("rnn", x);
  const ops::AtSite here(x);
  memory::Vector<Operand> inputs{x, weights.w_ih, weights.w_hh};
  const Tensor bias = contiguous(ops::bias_sum("rnn", weights));
  inputs.emplace_back(bias);
  Tensor h;
  if (h0.is_given()) {
    h = contiguous(h0);
    inputs.emplace_back(h);
  }
  std::array<Tensor, 2> out;
  ops::call_recurrent(ops::kRnn, inputs,
                      {.has_state = h0.is_given(),
                       .is_reverse = options.is_reverse,
                       .is_relu = options.nonlinearity == Nonlinearity::kRelu},
                      out);
  return {std::move(out[0]), std::move(out[1])};
}

Tensor rnn_cell(const TensorOperand& x, const Tensor& h,
                const RecurrentWeights& weights, Nonlinearity nonlinearity) {
  const Tensor& value = ops::tensor_of("rnn_cell", x);
  if (value.rank() != 2) {
    base::raise<ShapeError>("rnn_cell: x {}, expected (samples, features)",
                            format_shape(value.shape()));
  }
  const ops::AtSite here(x);
  return rnn(reshape(x, {1, value.size(0), value.size(1)}), weights, h,
             {.nonlinearity = nonlinearity})
      .h;
}

namespace ops {

const Op kRnnGrad{
    .name = "rnn_grad",
    .formula =
        "dh = dy_t + ds_(t+1) w_hh; ds = dh (1 - y^2), or dh where y > 0",
    .outputs = 2,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_recurrent_grad(args, {}, out); },
    .kernel = &kernels::rnn_grad_kernels,
    .facts = {.donates = 0b100,
              .takes_dense = true,
              .rows = rows_of_recurrence_grad,
              .cost = recurrent_grad_cost}};

std::array<Tensor, 2> rnn_grad(RecurrentGradInputs in,
                               const RecurrentGradAttrs& attrs) {
  std::array<Tensor, 2> out;
  call_recurrent_grad(kRnnGrad, std::move(in), attrs, out);
  return out;
}

}  // namespace ops

}  // namespace neap
