// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The shape rules and derivatives that lstm, gru and rnn share. For sources of
// ops only.
#pragma once

#include "neap/kernels/sequence/recurrent.hpp"
#include "neap/memory/containers.hpp"
#include "neap/ops/sequence/recurrent.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

using kernels::RecurrentAttrs;
using kernels::RecurrentGradAttrs;

/// True where what an op makes of these has a derivative: on the tape, or by
/// tangents. Undefined ones have none.
bool is_differentiated(std::initializer_list<const Tensor*> tensors);

/// Gates of the weights and columns of the bias, by h; states at the start.
struct RecurrentCounts {
  std::int64_t gates = 1;
  std::int64_t columns = 1;
  std::size_t states = 1;
};

/// Checks x, w_ih, w_hh, the bias and the states, and makes the shapes of y and
/// h_n. THROWS: ShapeError, DTypeError.
void infer_recurrent(const OpArgs& args, const RecurrentCounts& counts,
                     std::span<Spec> out);

/// For a gradient: `first` operands, then those that its attributes name. Makes
/// the shapes of d gates, of the first's, and of the states' cotangents.
void infer_recurrent_grad(const OpArgs& args, const RecurrentCounts& counts,
                          std::span<Spec> out);

/// Axis 1 of operands over time holds samples, axis 0 of states.
RowUse rows_of_recurrence(const OpArgs& args, Specs outputs,
                          const RowAxes& axes);
RowUse rows_of_recurrence_grad(const OpArgs& args, Specs outputs,
                               const RowAxes& axes);

/// The cost of the products.
Cost recurrent_cost(const OpArgs& args, std::span<const Spec> outputs);
Cost recurrent_grad_cost(const OpArgs& args, std::span<const Spec> outputs);

/// The inputs of a forward call: x, the weights, the bias and the states. In
/// the current precision, as the gradient below; a rule sets that of its call.
void call_recurrent(const Op& op, std::span<const Operand> inputs,
                    RecurrentAttrs attrs, std::span<Tensor> out);

/// Checks that there are both biases or none. RETURNS: whether there are.
bool has_biases(std::string_view op, const RecurrentWeights& weights);
/// Their sum; zeros where there are none.
Tensor bias_sum(std::string_view op, const RecurrentWeights& weights);

/// The inputs of a gradient; all from `values` on may be undefined.
struct RecurrentGradInputs {
  Tensor kept;  // the gates, or y
  Tensor w_hh;
  Tensor values{};  // c or y
  Tensor state{};   // the first of them
  Tensor dy{};
  Tensor dh{};  // of the last h
  Tensor dc{};
};

bool is_differentiated(const RecurrentGradInputs& in);
void call_recurrent_grad(const Op& op, RecurrentGradInputs in,
                         RecurrentGradAttrs attrs, std::span<Tensor> out);

/// Time by the order in which a direction takes the steps.
class StepOrder {
 public:
  StepOrder(std::int64_t steps, bool is_reverse) noexcept
      : steps_(steps), is_reverse_(is_reverse) {}
  std::int64_t count() const noexcept { return steps_; }
  std::int64_t time(std::int64_t s) const noexcept {
    return is_reverse_ ? steps_ - 1 - s : s;
  }

 private:
  std::int64_t steps_;
  bool is_reverse_;
};

/// The part of (T, b, ...) at a time; undefined of an undefined tensor.
Tensor at_time(const Tensor& x, std::int64_t time);
/// Columns [first, first + 1) of `count` equal ones of (b, ...), likewise.
Tensor column(const Tensor& x, std::int64_t first, std::int64_t count);
/// Zeros of x's dtype and space.
Tensor zeros_of(const Shape& shape, const Tensor& x);

/// Sets the cotangents of x, w_ih, w_hh and the bias from those of the gates,
/// (T, b, columns h): one product each over all steps. The last `gates` of the
/// columns belong to x, the first to h, whose weights' last come first where
/// there are more columns than gates. Reads y (output 0) and h0 (input 4) for
/// w_hh.
void set_weight_cotangents(VjpContext& c, const Tensor& dgates,
                           std::int64_t gates);

/// The tangent of x w_ih^T + the last columns of the bias for all steps, (T, b,
/// gates h); zeros where there is none.
Tensor input_tangent(const JvpContext& c, std::int64_t gates);
/// The part of the tangent of h w_hh^T that w_hh gives, likewise.
Tensor weight_tangent(const JvpContext& c, std::int64_t gates);

}  // namespace neap::ops
