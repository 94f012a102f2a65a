// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/gru.hpp"

#include "neap/kernels/sequence/gru.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/sequence/recurrent_grads.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {
namespace {

void infer_gru(const OpArgs& args, std::span<Spec> out) {
  infer_recurrent(args, {.gates = 3, .columns = 4}, out);
  const Shape& y = out[0].shape;
  out[2].dtype = out[0].dtype;
  out[2].shape = args.attrs.as<RecurrentAttrs>().keeps
                     ? Shape{y[0], y[1], 4 * y[2]}
                     : Shape{0};
}

// The values of a step.
struct Cell {
  Tensor from_h, r, z, n, before;

  Cell(const Tensor& kept, Tensor h)
      : from_h(column(kept, 0, 4)),
        r(column(kept, 1, 4)),
        z(column(kept, 2, 4)),
        n(column(kept, 3, 4)),
        before(std::move(h)) {}
};

Tensor slope(const Tensor& y) {
  return y * (1.0 - y);
}

// Its last gate first, as the kept columns are.
Tensor rolled(const Tensor& w) {
  const std::int64_t hidden = w.shape()[1];
  return concat(
      {narrow(w, 0, 2 * hidden, hidden), narrow(w, 0, 0, 2 * hidden)});
}

// gru_grad in plain ops, and for cotangents of what is kept too.
std::array<Tensor, 2> grad_by_steps(const RecurrentGradInputs& in,
                                    const Tensor& given, bool is_reverse) {
  const Shape& shape = in.values.shape();
  const StepOrder order(shape[0], is_reverse);
  const Tensor none = zeros_of({shape[1], shape[2]}, in.values);
  const Tensor w = rolled(in.w_hh);
  const Tensor first = in.state.defined() ? in.state : none;
  Tensor dh = add_defined(none, in.dh);
  memory::Vector<Tensor> made(static_cast<std::size_t>(shape[0]));
  for (std::int64_t s = order.count() - 1; s >= 0; --s) {
    const std::int64_t t = order.time(s);
    const Cell cell(at_time(in.kept, t),
                    s == 0 ? first : at_time(in.values, order.time(s - 1)));
    const Tensor more = at_time(given, t);
    dh = add_defined(std::move(dh), at_time(in.dy, t));
    const Tensor dz =
        add_defined(dh * (cell.before - cell.n), column(more, 2, 4));
    const Tensor dn = add_defined(dh * (1.0 - cell.z), column(more, 3, 4)) *
                      (1.0 - square(cell.n));
    const Tensor dr = add_defined(dn * cell.from_h, column(more, 1, 4));
    const Tensor by_h = concat({add_defined(dn * cell.r, column(more, 0, 4)),
                                dr * slope(cell.r), dz * slope(cell.z)},
                               1);
    dh = dh * cell.z + matmul(by_h, w);
    made[static_cast<std::size_t>(t)] = concat({by_h, dn}, 1);
  }
  return {stack(made), std::move(dh)};
}

void vjp_gru(VjpContext& c) {
  const auto attrs = c.attrs<RecurrentAttrs>();
  const UsePrecision same(attrs.precision);
  RecurrentGradInputs in{.kept = c.output(2),
                         .w_hh = c.input(2),
                         .values = c.output(0),
                         .state = attrs.has_state ? c.input(4) : Tensor(),
                         .dy = c.take_cotangent(0),
                         .dh = c.take_cotangent(1)};
  const Tensor given = c.take_cotangent(2);
  const bool wants = attrs.has_state && c.needs(4);
  std::array<Tensor, 2> d =
      given.defined() || is_differentiated(in)
          ? grad_by_steps(in, given, attrs.is_reverse)
          : gru_grad(std::move(in),
                     {.is_reverse = attrs.is_reverse, .wants_state = wants});
  in = {};
  set_weight_cotangents(c, d[0], 3);
  if (wants) {
    c.set(4, std::move(d[1]));
  }
}

void jvp_gru(JvpContext& c) {
  const auto& attrs = c.attrs<RecurrentAttrs>();
  const UsePrecision same(attrs.precision);
  const Tensor& y = c.output(0);
  const std::int64_t hidden = y.shape()[2];
  const StepOrder order(y.shape()[0], attrs.is_reverse);
  const Tensor by_x = input_tangent(c, 3);
  const Tensor by_weights = weight_tangent(c, 3);
  const Tensor none = zeros_of({y.shape()[1], hidden}, y);
  const Tensor bias =
      c.tangent(3).defined() ? narrow(c.tangent(3), 0, 0, hidden) : Tensor();
  Tensor dh = attrs.has_state ? add_defined(none, c.tangent(4)) : none;
  const Tensor first = attrs.has_state ? c.input(4) : none;
  const auto count = static_cast<std::size_t>(order.count());
  memory::Vector<Tensor> all_h(count);
  memory::Vector<Tensor> all_kept(count);
  for (std::int64_t s = 0; s < order.count(); ++s) {
    const std::int64_t t = order.time(s);
    const Cell cell(at_time(c.output(2), t),
                    s == 0 ? first : at_time(y, order.time(s - 1)));
    const Tensor x_part = at_time(by_x, t);
    const Tensor h_part =
        at_time(by_weights, t) + matmul(dh, transpose(c.input(2)));
    const Tensor dr =
        (column(x_part, 0, 3) + column(h_part, 0, 3)) * slope(cell.r);
    const Tensor dz =
        (column(x_part, 1, 3) + column(h_part, 1, 3)) * slope(cell.z);
    const Tensor from_h = add_defined(column(h_part, 2, 3), bias);
    const Tensor dn =
        (column(x_part, 2, 3) + dr * cell.from_h + cell.r * from_h) *
        (1.0 - square(cell.n));
    dh = (1.0 - cell.z) * dn + (cell.before - cell.n) * dz + cell.z * dh;
    all_h[static_cast<std::size_t>(t)] = dh;
    all_kept[static_cast<std::size_t>(t)] = concat({from_h, dr, dz, dn}, 1);
  }
  c.set(0, stack(all_h));
  c.set(1, std::move(dh));
  c.set(2, stack(all_kept));
}

// b_hn, then what both give to r and z, then b_in.
Tensor bias_of(const RecurrentWeights& weights) {
  const std::int64_t hidden = weights.w_hh.size(-1);
  if (!has_biases("gru", weights)) {
    return zeros_of({4 * hidden}, weights.w_hh);
  }
  const Tensor& b_ih = weights.b_ih;
  const Tensor& b_hh = weights.b_hh;
  for (const Tensor* bias : {&b_ih, &b_hh}) {
    if (bias->shape() != Shape{3 * hidden}) {
      raise<ShapeError>("gru: a bias is {}, expected [{}]",
                        format_shape(bias->shape()), 3 * hidden);
    }
  }
  return concat(
      {narrow(b_hh, 0, 2 * hidden, hidden),
       narrow(b_ih, 0, 0, 2 * hidden) + narrow(b_hh, 0, 0, 2 * hidden),
       narrow(b_ih, 0, 2 * hidden, hidden)});
}

}  // namespace

// The third output is a residual, never given to the user.
const Op kGru{
    .name = "gru",
    .formula =
        "r = sigmoid(x w_ir^T + h w_hr^T + b_r), z likewise; n = tanh(x w_in^T "
        "+ b_n + r (h w_hn^T + b_hn)); h_t = (1 - z) n + z h_(t-1)",
    .outputs = 3,
    .infer = infer_gru,
    .kernel = &kernels::gru_kernels,
    .vjp = vjp_gru,
    .jvp = jvp_gru,
    .facts = {.vjp_reads = {{{.inputs = 0b10110, .outputs = 0b101},
                             {.inputs = 0b10101, .outputs = 0b101},
                             {.inputs = 0b10100, .outputs = 0b101},
                             {.inputs = 0b10100, .outputs = 0b101}}},
              .takes_dense = true,
              .rows = rows_of_recurrence,
              .cost = recurrent_cost}};

}  // namespace ops

RecurrentResult gru(const Operand& x, const RecurrentWeights& weights,
                    const Tensor& h0, bool is_reverse) {
  ops::tensor_of("gru", x);
  const ops::AtSite here(x);
  memory::Vector<Operand> inputs{x, weights.w_ih, weights.w_hh};
  const Tensor bias = contiguous(ops::bias_of(weights));
  inputs.emplace_back(bias);
  Tensor h;
  if (h0.is_given()) {
    h = contiguous(h0);
    inputs.emplace_back(h);
  }
  std::array<Tensor, 3> out;
  ops::call_recurrent(ops::kGru, inputs,
                      {.has_state = h0.is_given(), .is_reverse = is_reverse},
                      out);
  return {std::move(out[0]), std::move(out[1])};
}

Tensor gru_cell(const TensorOperand& x, const Tensor& h,
                const RecurrentWeights& weights) {
  const Tensor& value = ops::tensor_of("gru_cell", x);
  if (value.rank() != 2) {
    base::raise<ShapeError>("gru_cell: x {}, expected (samples, features)",
                            format_shape(value.shape()));
  }
  const ops::AtSite here(x);
  return gru(reshape(x, {1, value.size(0), value.size(1)}), weights, h).h;
}

namespace ops {

const Op kGruGrad{
    .name = "gru_grad",
    .formula =
        "dn = dh (1 - z) (1 - n^2), dz = dh (h_(t-1) - n) z (1 - z), dr = dn "
        "(h w_hn^T + b_hn) r (1 - r); dh_(t-1) = dy + dh z + dr w_hr + dz w_hz "
        "+ dn r w_hn",
    .outputs = 2,
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_recurrent_grad(args, {.gates = 3, .columns = 4}, out);
        },
    .kernel = &kernels::gru_grad_kernels,
    .facts = {.donates = 0b1,
              .takes_dense = true,
              .rows = rows_of_recurrence_grad,
              .cost = recurrent_grad_cost}};

std::array<Tensor, 2> gru_grad(RecurrentGradInputs in,
                               const RecurrentGradAttrs& attrs) {
  std::array<Tensor, 2> out;
  call_recurrent_grad(kGruGrad, std::move(in), attrs, out);
  return out;
}

}  // namespace ops

}  // namespace neap
