// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/recurrent_rules.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::ops {

bool is_differentiated(std::initializer_list<const Tensor*> tensors) {
  const bool records = tensor::thread_execution().grad_enabled;
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor* x) {
    return x->defined() &&
           ((records && x->requires_grad()) || x->array()->has_tangents());
  });
}

bool is_differentiated(const RecurrentGradInputs& in) {
  return is_differentiated(
      {&in.kept, &in.w_hh, &in.values, &in.state, &in.dy, &in.dh, &in.dc});
}

// --- shapes ----------------------------------------------------------------

namespace {

void expect_shape(std::string_view op, const char* what, const Spec& got,
                  const Shape& want) {
  if (got.shape != want) {
    raise<ShapeError>("{}: {} is {}, expected {}", op, what,
                      format_shape(got.shape), format_shape(want));
  }
}

}  // namespace

void infer_recurrent(const OpArgs& args, const RecurrentCounts& counts,
                     std::span<Spec> out) {
  infer_floating(args, out);
  const Shape& x = args.inputs[0].shape;
  const Shape& w_hh = args.inputs[2].shape;
  if (x.rank() != 3 || x[0] == 0) {
    raise<ShapeError>(
        "{}: x {}, expected (steps, samples, features) with a step or more",
        args.name, format_shape(x));
  }
  const std::int64_t hidden = w_hh.rank() == 2 ? w_hh[1] : 0;
  if (hidden == 0) {
    raise<ShapeError>("{}: w_hh {}, expected ({} h, h) with h of 1 or more",
                      args.name, format_shape(w_hh), counts.gates);
  }
  const std::int64_t rows = base::checked_mul(counts.gates, hidden);
  expect_shape(args.name, "w_hh", args.inputs[2], {rows, hidden});
  expect_shape(args.name, "w_ih", args.inputs[1], {rows, x[2]});
  expect_shape(args.name, "the bias", args.inputs[3],
               {counts.columns * hidden});
  for (const Spec& state : args.inputs.subspan(4)) {
    expect_shape(args.name, "a state", state, {x[1], hidden});
  }
  out[0].shape = {x[0], x[1], hidden};
  out[1].dtype = out[0].dtype;
  out[1].shape = {x[1], hidden};
}

void infer_recurrent_grad(const OpArgs& args, const RecurrentCounts& counts,
                          std::span<Spec> out) {
  const auto& attrs = args.attrs.as<RecurrentGradAttrs>();
  infer_floating(args, out);
  const Shape kept = args.inputs[0].shape;
  const Shape& w_hh = args.inputs[1].shape;
  if (kept.rank() != 3 || w_hh.rank() != 2) {
    raise<ShapeError>("{}: gates {} and w_hh {}, expected ranks 3 and 2",
                      args.name, format_shape(kept), format_shape(w_hh));
  }
  const std::int64_t hidden = w_hh[1];
  expect_shape(args.name, "w_hh", args.inputs[1],
               {counts.gates * hidden, hidden});
  expect_shape(args.name, "what was kept", args.inputs[0],
               {kept[0], kept[1], counts.columns * hidden});
  const Shape all{kept[0], kept[1], hidden};
  const Shape one{kept[1], hidden};
  const bool has_values = counts.columns > 1;
  std::size_t next = 2;
  const auto expect = [&](bool is_there, const Shape& shape) {
    if (is_there) {
      expect_shape(args.name, "an operand", args.inputs[next++], shape);
    }
  };
  expect(has_values, all);
  expect(has_values && attrs.has_state, one);
  expect(attrs.has_dy, all);
  expect(attrs.has_dh, one);
  expect(attrs.has_dc, all);
  expect(attrs.has_last_dc, one);
  for (std::size_t k = 1; k <= counts.states; ++k) {
    out[k].dtype = out[0].dtype;
    out[k].shape = attrs.wants_state ? one : Shape{0};
  }
}

namespace {

// `is_weight(i)`: input i is one of the weights.
template <class IsWeight>
RowUse rows_in_time(const OpArgs& args, Specs outputs, const RowAxes& axes,
                    const IsWeight& is_weight) {
  const auto axis_of = [](const Shape& shape) { return shape.rank() - 2; };
  const Shape& first = args.inputs[0].shape;
  for (std::size_t i = 0; i < axes.inputs.size(); ++i) {
    const Shape& shape = args.inputs[i].shape;
    const bool fits = is_weight(i)
                          ? axes.inputs[i] == RowAxes::kWhole
                          : cuts(args, axes, i, axis_of(shape), first[1]);
    if (!fits) {
      return RowUse::kUnknown;
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    axes.outputs[i] = std::max(axis_of(outputs[i].shape), 0);
  }
  return RowUse::kEach;
}

}  // namespace

RowUse rows_of_recurrence(const OpArgs& args, Specs outputs,
                          const RowAxes& axes) {
  return rows_in_time(args, outputs, axes,
                      [](std::size_t i) { return i >= 1 && i <= 3; });
}

RowUse rows_of_recurrence_grad(const OpArgs& args, Specs outputs,
                               const RowAxes& axes) {
  return rows_in_time(args, outputs, axes,
                      [](std::size_t i) { return i == 1; });
}

Cost recurrent_cost(const OpArgs& args, std::span<const Spec> outputs) {
  const Shape& x = args.inputs[0].shape;
  const Shape& w_ih = args.inputs[1].shape;
  const Shape& w_hh = args.inputs[2].shape;
  return moving(args, outputs, 2 * x[0] * x[1] * w_hh[0] * (w_ih[1] + w_hh[1]));
}

Cost recurrent_grad_cost(const OpArgs& args, std::span<const Spec> outputs) {
  const Shape& kept = args.inputs[0].shape;
  const Shape& w_hh = args.inputs[1].shape;
  return moving(args, outputs, 2 * kept[0] * kept[1] * w_hh[0] * w_hh[1]);
}

// --- calls -----------------------------------------------------------------

void call_recurrent(const Op& op, std::span<const Operand> inputs,
                    RecurrentAttrs attrs, std::span<Tensor> out) {
  bool keeps = false;
  for (const Operand& input : inputs) {
    keeps = keeps || is_differentiated({&input.tensor()});
  }
  attrs.keeps = keeps;
  attrs.precision = current_precision();
  graph::dispatch(op, inputs, attrs, inputs[0].site(), out);
}

bool has_biases(std::string_view op, const RecurrentWeights& weights) {
  if (weights.b_ih.is_given() != weights.b_hh.is_given()) {
    raise<ValueError>("{}: one bias, expected b_ih and b_hh, or none", op);
  }
  return weights.b_ih.is_given();
}

Tensor bias_sum(std::string_view op, const RecurrentWeights& weights) {
  return has_biases(op, weights)
             ? add(weights.b_ih, weights.b_hh)
             : zeros_of({weights.w_hh.size(0)}, weights.w_hh);
}

void call_recurrent_grad(const Op& op, RecurrentGradInputs in,
                         RecurrentGradAttrs attrs, std::span<Tensor> out) {
  attrs.has_state = in.state.defined();
  attrs.has_dy = in.dy.defined();
  attrs.has_dh = in.dh.defined();
  attrs.has_dc = in.dc.defined();
  attrs.precision = current_precision();
  if (in.dy.defined() && in.dy.array()->layout().strides.back() != 1) {
    in.dy = contiguous(in.dy);
  }
  for (Tensor* dense : {&in.kept, &in.values, &in.state, &in.dh, &in.dc}) {
    if (dense->defined()) {
      *dense = contiguous(*dense);
    }
  }
  memory::Vector<Operand> inputs;
  inputs.reserve(7);
  for (Tensor* input :
       {&in.kept, &in.w_hh, &in.values, &in.state, &in.dy, &in.dh, &in.dc}) {
    if (input->defined()) {
      inputs.emplace_back(std::move(*input));
    }
  }
  graph::dispatch(op, inputs, attrs, CallSite::here(), out);
}

// --- steps -----------------------------------------------------------------

Tensor at_time(const Tensor& x, std::int64_t time) {
  return x.defined() ? select(x, 0, time) : Tensor();
}

Tensor column(const Tensor& x, std::int64_t first, std::int64_t count) {
  if (!x.defined()) {
    return {};
  }
  const std::int64_t width = x.shape()[1] / count;
  return narrow(x, 1, first * width, width);
}

Tensor zeros_of(const Shape& shape, const Tensor& x) {
  Spec spec = x.spec();
  spec.shape = shape;
  return filled(spec, 0.0, CallSite::here());
}

// --- weights ---------------------------------------------------------------

namespace {

// a b, added to what other calls have given the input so far.
Tensor gain(Tensor sum, const Tensor& a, const Tensor& b) {
  return sum.defined() ? matmul_add(std::move(sum), a, b) : matmul(a, b);
}

// d gates of the products with h, (T b, gates h), times the h that they were
// made with: all but the first step's, whose h is h0.
Tensor h_weight_cotangent(const VjpContext& c, const Tensor& dgates,
                          Tensor sum) {
  const auto attrs = c.attrs<RecurrentAttrs>();
  const Tensor y = c.output(0);
  const std::int64_t steps = y.shape()[0];
  const std::int64_t batch = y.shape()[1];
  const std::int64_t rest = (steps - 1) * batch;
  if (attrs.has_state) {
    const std::int64_t first = attrs.is_reverse ? rest : 0;
    sum = gain(std::move(sum), transpose(narrow(dgates, 0, first, batch)),
               c.input(4));
  }
  if (steps == 1) {
    return sum;
  }
  const Tensor rows = reshape(y, {steps * batch, y.shape()[2]});
  const std::int64_t made = attrs.is_reverse ? 0 : batch;
  return gain(std::move(sum), transpose(narrow(dgates, 0, made, rest)),
              narrow(rows, 0, batch - made, rest));
}

// The last of its gates back to its place.
Tensor unrolled(const Tensor& dw) {
  if (!dw.defined()) {
    return dw;
  }
  const std::int64_t hidden = dw.shape()[1];
  const std::int64_t rest = dw.shape()[0] - hidden;
  return concat({narrow(dw, 0, hidden, rest), narrow(dw, 0, 0, hidden)});
}

}  // namespace

void set_weight_cotangents(VjpContext& c, const Tensor& dgates,
                           std::int64_t gates) {
  const std::int64_t width = dgates.shape()[2];
  const std::int64_t hidden = c.input(2).shape()[1];
  const std::int64_t used = gates * hidden;
  const std::int64_t rows = dgates.shape()[0] * dgates.shape()[1];
  const Tensor flat = reshape(dgates, {rows, width});
  if (c.needs(2)) {
    const bool is_rolled = width != used;
    Tensor dw = h_weight_cotangent(c, narrow(flat, 1, 0, used),
                                   is_rolled ? Tensor() : c.take_sum(2));
    c.set(2, is_rolled ? unrolled(dw) : std::move(dw));
  }
  if (c.needs(3)) {
    c.set(3, sum(flat, {0}));
  }
  const Tensor of_x = narrow(flat, 1, width - used, used);
  if (c.needs(1)) {
    const Tensor x = c.input(0);
    c.set(1, gain(c.take_sum(1), transpose(of_x),
                  reshape(x, {rows, x.shape()[2]})));
  }
  if (c.needs(0)) {
    const Tensor w = c.input(1);
    c.set(0, reshape(matmul(of_x, w),
                     {dgates.shape()[0], dgates.shape()[1], w.shape()[1]}));
  }
}

Tensor input_tangent(const JvpContext& c, std::int64_t gates) {
  const Shape& y = c.output().shape();
  const std::int64_t used = gates * y[2];
  Tensor d = zeros_of({y[0], y[1], used}, c.output());
  if (c.tangent(0).defined()) {
    d = add(std::move(d), matmul(c.tangent(0), transpose(c.input(1))));
  }
  if (c.tangent(1).defined()) {
    d = add(std::move(d), matmul(c.input(0), transpose(c.tangent(1))));
  }
  const Tensor& bias = c.tangent(3);
  if (bias.defined()) {
    d = add(std::move(d), narrow(bias, 0, bias.shape()[0] - used, used));
  }
  return d;
}

Tensor weight_tangent(const JvpContext& c, std::int64_t gates) {
  const auto& attrs = c.attrs<RecurrentAttrs>();
  const Tensor& y = c.output();
  const Shape& shape = y.shape();
  if (!c.tangent(2).defined()) {
    return zeros_of({shape[0], shape[1], gates * shape[2]}, y);
  }
  const Tensor h0 =
      attrs.has_state ? c.input(4) : zeros_of({shape[1], shape[2]}, y);
  const Tensor first = reshape(h0, {1, shape[1], shape[2]});
  const std::int64_t rest = shape[0] - 1;
  const Tensor before = attrs.is_reverse
                            ? concat({narrow(y, 0, 1, rest), first})
                            : concat({first, narrow(y, 0, 0, rest)});
  return matmul(before, transpose(c.tangent(2)));
}

}  // namespace neap::ops
