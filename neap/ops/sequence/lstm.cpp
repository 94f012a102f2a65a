// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/lstm.hpp"

#include "neap/kernels/sequence/lstm.hpp"
#include "neap/ops/activation/activations.hpp"
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

void infer_lstm(const OpArgs& args, std::span<Spec> out) {
  const auto& attrs = args.attrs.as<RecurrentAttrs>();
  infer_recurrent(args, {.gates = 4, .columns = 4, .states = 2}, out);
  const Shape& y = out[0].shape;
  out[2].dtype = out[3].dtype = out[0].dtype;
  out[2].shape = attrs.keeps ? Shape{y[0], y[1], 4 * y[2]} : Shape{0};
  out[3].shape = {attrs.keeps ? y[0] : 1, y[1], y[2]};
}

// The values of a step: its gates after sigmoid and tanh, and c around it.
struct Cell {
  Tensor i, f, g, o, c_before, tanh_c;

  Cell(const Tensor& gates, const Tensor& c, Tensor before)
      : i(column(gates, 0, 4)),
        f(column(gates, 1, 4)),
        g(column(gates, 2, 4)),
        o(column(gates, 3, 4)),
        c_before(std::move(before)),
        tanh_c(tanh(c)) {}

  /// Takes d gates after sigmoid and tanh to before (or back).
  Tensor slopes(const Tensor& di, const Tensor& df, const Tensor& dg,
                const Tensor& d_o) const {
    return concat({di * (i * (1.0 - i)), df * (f * (1.0 - f)),
                   dg * (1.0 - square(g)), d_o * (o * (1.0 - o))},
                  1);
  }
};

// lstm_grad in plain ops, and for cotangents of the gates too.
std::array<Tensor, 3> grad_by_steps(const RecurrentGradInputs& in,
                                    const Tensor& given, bool is_reverse) {
  const Shape& shape = in.values.shape();
  const StepOrder order(shape[0], is_reverse);
  const Tensor none = zeros_of({shape[1], shape[2]}, in.values);
  Tensor dh = add_defined(none, in.dh);
  Tensor dc = none;
  memory::Vector<Tensor> made(static_cast<std::size_t>(shape[0]));
  for (std::int64_t s = order.count() - 1; s >= 0; --s) {
    const std::int64_t t = order.time(s);
    const Tensor first = in.state.defined() ? in.state : none;
    const Cell cell(at_time(in.kept, t), at_time(in.values, t),
                    s == 0 ? first : at_time(in.values, order.time(s - 1)));
    const Tensor more = at_time(given, t);
    dh = add_defined(std::move(dh), at_time(in.dy, t));
    dc = add_defined(std::move(dc), at_time(in.dc, t)) +
         dh * cell.o * (1.0 - square(cell.tanh_c));
    Tensor dgates =
        cell.slopes(add_defined(dc * cell.g, column(more, 0, 4)),
                    add_defined(dc * cell.c_before, column(more, 1, 4)),
                    add_defined(dc * cell.i, column(more, 2, 4)),
                    add_defined(dh * cell.tanh_c, column(more, 3, 4)));
    dc = dc * cell.f;
    dh = matmul(dgates, in.w_hh);
    made[static_cast<std::size_t>(t)] = std::move(dgates);
  }
  return {stack(made), std::move(dh), std::move(dc)};
}

void vjp_lstm(VjpContext& c) {
  const auto attrs = c.attrs<RecurrentAttrs>();
  const UsePrecision same(attrs.precision);
  RecurrentGradInputs in{.kept = c.output(2),
                         .w_hh = c.input(2),
                         .values = c.output(3),
                         .state = attrs.has_state ? c.input(5) : Tensor(),
                         .dy = c.take_cotangent(0),
                         .dh = c.take_cotangent(1),
                         .dc = c.take_cotangent(3)};
  const Tensor given = c.take_cotangent(2);
  const bool wants = attrs.has_state && (c.needs(4) || c.needs(5));
  std::array<Tensor, 3> d =
      given.defined() || is_differentiated(in)
          ? grad_by_steps(in, given, attrs.is_reverse)
          : lstm_grad(std::move(in),
                      {.is_reverse = attrs.is_reverse, .wants_state = wants});
  in = {};
  set_weight_cotangents(c, d[0], 4);
  if (attrs.has_state && c.needs(4)) {
    c.set(4, std::move(d[1]));
  }
  if (attrs.has_state && c.needs(5)) {
    c.set(5, std::move(d[2]));
  }
}

void jvp_lstm(JvpContext& c) {
  const auto& attrs = c.attrs<RecurrentAttrs>();
  const UsePrecision same(attrs.precision);
  const Tensor& y = c.output(0);
  const StepOrder order(y.shape()[0], attrs.is_reverse);
  const Tensor pre = input_tangent(c, 4) + weight_tangent(c, 4);
  const Tensor none = zeros_of({y.shape()[1], y.shape()[2]}, y);
  Tensor dh = attrs.has_state ? add_defined(none, c.tangent(4)) : none;
  Tensor dc = attrs.has_state ? add_defined(none, c.tangent(5)) : none;
  const Tensor first = attrs.has_state ? c.input(5) : none;
  const auto count = static_cast<std::size_t>(order.count());
  memory::Vector<Tensor> all_h(count), all_gates(count), all_c(count);
  for (std::int64_t s = 0; s < order.count(); ++s) {
    const std::int64_t t = order.time(s);
    const auto place = static_cast<std::size_t>(t);
    const Cell cell(at_time(c.output(2), t), at_time(c.output(3), t),
                    s == 0 ? first : at_time(c.output(3), order.time(s - 1)));
    const Tensor sums = at_time(pre, t) + matmul(dh, transpose(c.input(2)));
    const Tensor dgates = cell.slopes(column(sums, 0, 4), column(sums, 1, 4),
                                      column(sums, 2, 4), column(sums, 3, 4));
    dc = cell.f * dc + cell.c_before * column(dgates, 1, 4) +
         cell.i * column(dgates, 2, 4) + cell.g * column(dgates, 0, 4);
    dh = cell.o * (1.0 - square(cell.tanh_c)) * dc +
         cell.tanh_c * column(dgates, 3, 4);
    all_h[place] = dh;
    all_c[place] = dc;
    all_gates[place] = dgates;
  }
  c.set(0, stack(all_h));
  c.set(1, std::move(dh));
  c.set(2, stack(all_gates));
  c.set(3, stack(all_c));
}

}  // namespace

// The third and fourth output are residuals, not given to the user but for the
// last c.
const Op kLstm{
    .name = "lstm",
    .formula =
        "i, f, g, o = x_t w_ih^T + bias + h_(t-1) w_hh^T; c_t = sigmoid(f) "
        "c_(t-1) + sigmoid(i) tanh(g); h_t = sigmoid(o) tanh(c_t)",
    .outputs = 4,
    .infer = infer_lstm,
    .kernel = &kernels::lstm_kernels,
    .vjp = vjp_lstm,
    .jvp = jvp_lstm,
    .facts = {.vjp_reads = {{{.inputs = 0b100110, .outputs = 0b1100},
                             {.inputs = 0b100101, .outputs = 0b1100},
                             {.inputs = 0b110100, .outputs = 0b1101},
                             {.inputs = 0b100100, .outputs = 0b1100}}},
              .takes_dense = true,
              .rows = rows_of_recurrence,
              .cost = recurrent_cost}};

}  // namespace ops

LstmResult lstm(const Operand& x, const RecurrentWeights& weights,
                const LstmState& state, bool is_reverse) {
  constexpr const char* kName = "lstm";
  const Shape& shape = ops::tensor_of(kName, x).shape();
  if (state.h.is_given() != state.c.is_given()) {
    base::raise<ValueError>("lstm: half a state, expected h and c, or none");
  }
  const ops::AtSite here(x);
  memory::Vector<Operand> inputs{x, weights.w_ih, weights.w_hh};
  const Tensor bias = contiguous(ops::bias_sum(kName, weights));
  inputs.emplace_back(bias);
  const ops::RecurrentAttrs attrs{.has_state = state.h.is_given(),
                                  .is_reverse = is_reverse};
  Tensor h;
  Tensor c;
  if (attrs.has_state) {
    h = contiguous(state.h);
    c = contiguous(state.c);
    inputs.emplace_back(h);
    inputs.emplace_back(c);
  }
  std::array<Tensor, 4> out;
  ops::call_recurrent(ops::kLstm, inputs, attrs, out);
  const std::int64_t last =
      is_reverse || out[3].size(0) == 1 ? 0 : shape[0] - 1;
  return {std::move(out[0]), {std::move(out[1]), select(out[3], 0, last)}};
}

LstmState lstm_cell(const TensorOperand& x, const LstmState& state,
                    const RecurrentWeights& weights) {
  const Tensor& value = ops::tensor_of("lstm_cell", x);
  if (value.rank() != 2) {
    base::raise<ShapeError>("lstm_cell: x {}, expected (samples, features)",
                            format_shape(value.shape()));
  }
  const ops::AtSite here(x);
  return lstm(reshape(x, {1, value.size(0), value.size(1)}), weights, state)
      .state;
}

namespace ops {

const Op kLstmGrad{
    .name = "lstm_grad",
    .formula =
        "dh = dy_t + d gates_(t+1) w_hh, dc = dc_(t+1) f_(t+1) + dh o (1 - "
        "tanh(c)^2); di = dc g i (1 - i), df = dc c_(t-1) f (1 - f), dg = dc i "
        "(1 - g^2), do = dh tanh(c) o (1 - o)",
    .outputs = 3,
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_recurrent_grad(args, {.gates = 4, .columns = 4, .states = 2},
                               out);
        },
    .kernel = &kernels::lstm_grad_kernels,
    .facts = {.donates = 0b1,
              .takes_dense = true,
              .rows = rows_of_recurrence_grad,
              .cost = recurrent_grad_cost}};

std::array<Tensor, 3> lstm_grad(RecurrentGradInputs in,
                                const RecurrentGradAttrs& attrs) {
  std::array<Tensor, 3> out;
  call_recurrent_grad(kLstmGrad, std::move(in), attrs, out);
  return out;
}

}  // namespace ops

}  // namespace neap
