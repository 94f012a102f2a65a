// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/softmax.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/norm/softmax.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

using kernels::AxisAttrs;

namespace {

Tensor total(const Tensor& x, const AxisAttrs& attrs) {
  return sum_axes(x, axis_bit(static_cast<int>(attrs.axis)));
}

template <int kFlops>  // an output element
Cost cost_of(const OpArgs& args, std::span<const Spec> outputs) {
  return moving(args, outputs, kFlops * outputs[0].shape.element_count());
}

}  // namespace

// The Jacobian is symmetric: one rule serves both directions.
const Op kSoftmax{.name = "softmax",
                  .formula = "y = e^x / sum e^x; dx = y (dy - sum(dy y))",
                  .infer = infer_floating,
                  .kernel = &kernels::softmax_kernels,
                  .vjp =
                      [](VjpContext& c) {
                        c.set(0, softmax_grad(c.take_cotangent(), c.output(),
                                              c.attrs<AxisAttrs>().axis));
                      },
                  .jvp =
                      [](JvpContext& c) {
                        c.set(0, softmax_grad(c.tangent(), c.output(),
                                              c.attrs<AxisAttrs>().axis));
                      },
                  .facts = {.vjp_reads = {{{.outputs = 0b1}}},
                            .donates = 0b1,
                            .rows = rows_beside_axis,
                            .cost = cost_of<4>}};

}  // namespace ops

Tensor softmax(const TensorOperand& x, std::int64_t axis) {
  const int rank = ops::tensor_of("softmax", x).rank();
  return graph::apply(
      ops::kSoftmax, {x},
      ops::AxisAttrs{base::normalize_axis("softmax", axis, rank)});
}

namespace ops {

namespace {

// The derivative by y in the direction d, and its own transpose: with s =
// sum(g y), it is d (g - s) - y sum(g d) one way and d (g - s) - g sum(y d) the
// other.
Tensor along_y(const Tensor& g, const Tensor& y, const Tensor& d,
               const AxisAttrs& attrs, bool is_transposed) {
  Tensor own = mul(d, sub(g, total(mul(g, y), attrs)));
  const Tensor& outer = is_transposed ? g : y;
  const Tensor& inner = is_transposed ? y : g;
  return sub(std::move(own), mul(outer, total(mul(inner, d), attrs)));
}

}  // namespace

const Op kSoftmaxGrad{
    .name = "softmax_grad",
    .formula = "dx = y (g - sum(g y)), for y = softmax(x)",
    .infer = infer_gradient,
    .kernel = &kernels::softmax_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor& u = c.cotangent();
          const auto attrs = c.attrs<AxisAttrs>();
          if (c.needs(0)) {  // symmetric
            c.set(0, softmax_grad(u, c.input(1), attrs.axis));
          }
          if (c.needs(1)) {
            c.set(1, along_y(c.input(0), c.input(1), u, attrs, true));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const auto attrs = c.attrs<AxisAttrs>();
          const Tensor& y = c.input(1);
          Tensor d;
          if (c.tangent(0).defined()) {
            d = softmax_grad(c.tangent(0), y, attrs.axis);
          }
          if (c.tangent(1).defined()) {
            d = add_defined(std::move(d),
                            along_y(c.input(0), y, c.tangent(1), attrs, false));
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b11}}},
              .donates = 0b11,
              .rows = rows_beside_axis,
              .cost = cost_of<4>}};

Tensor softmax_grad(const Operand& g, const Operand& y, std::int64_t axis) {
  return graph::apply(kSoftmaxGrad, {g, y}, AxisAttrs{axis});
}

const Op kLogSoftmax{
    .name = "log_softmax",
    .formula = "y = x - log sum e^x; dx = dy - e^y sum(dy)",
    .infer = infer_floating,
    .kernel = &kernels::log_softmax_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, log_softmax_grad(c.take_cotangent(), c.output(),
                                    c.attrs<AxisAttrs>().axis));
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& dx = c.tangent();
          c.set(0,
                sub(dx, total(mul(exp(c.output()), dx), c.attrs<AxisAttrs>())));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_beside_axis,
              .cost = cost_of<4>}};

}  // namespace ops

Tensor log_softmax(const TensorOperand& x, std::int64_t axis) {
  const int rank = ops::tensor_of("log_softmax", x).rank();
  return graph::apply(
      ops::kLogSoftmax, {x},
      ops::AxisAttrs{base::normalize_axis("log_softmax", axis, rank)});
}

namespace ops {
namespace {

// The derivative by y in the direction d, and its own transpose.
Tensor along_log(const Tensor& g, const Tensor& y, const Tensor& d,
                 const AxisAttrs& attrs) {
  return neg(mul(mul(exp(y), d), total(g, attrs)));
}

}  // namespace

const Op kLogSoftmaxGrad{
    .name = "log_softmax_grad",
    .formula = "dx = g - e^y sum(g), for y = log_softmax(x)",
    .infer = infer_gradient,
    .kernel = &kernels::log_softmax_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor& u = c.cotangent();
          const auto attrs = c.attrs<AxisAttrs>();
          if (c.needs(0)) {
            c.set(0, sub(u, total(mul(exp(c.input(1)), u), attrs)));
          }
          if (c.needs(1)) {
            c.set(1, along_log(c.input(0), c.input(1), u, attrs));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const auto attrs = c.attrs<AxisAttrs>();
          const Tensor& y = c.input(1);
          Tensor d;
          if (c.tangent(0).defined()) {
            d = log_softmax_grad(c.tangent(0), y, attrs.axis);
          }
          if (c.tangent(1).defined()) {
            d = add_defined(std::move(d),
                            along_log(c.input(0), y, c.tangent(1), attrs));
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b11}}},
              .donates = 0b11,
              .rows = rows_beside_axis,
              .cost = cost_of<3>}};

Tensor log_softmax_grad(const Operand& g, const Operand& y, std::int64_t axis) {
  return graph::apply(kLogSoftmaxGrad, {g, y}, AxisAttrs{axis});
}

}  // namespace ops

}  // namespace neap
