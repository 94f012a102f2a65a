// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/activations.hpp"

#include "neap/kernels/activation/activations.hpp"
#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/ops/activation/activation_grads.hpp"
#include "neap/ops/activation/parametric.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/rules.hpp"
#include "neap/ops/elementwise/where.hpp"

namespace neap {
namespace ops {
namespace {

Tensor mish_curvature(const Operand& x) {
  // (1 - w^2) s (2 + x ((1 - s) - 2 w s)), s = sigmoid(x)
  const Tensor s = sigmoid(x);
  const Tensor w = tanh(softplus(x));
  const Tensor inner = sub(sub(1, s), mul(mul(w, s), 2));
  return mul(mul(sub(1, square(w)), s), add(mul(x, inner), 2));
}

Tensor silu_curvature(const Operand& x) {
  const Tensor s = sigmoid(x);
  return mul(mul(s, sub(1, s)), add(mul(x, sub(1, mul(s, 2))), 2));
}

Tensor gelu_curvature(const Operand& x) {
  // (2 - x^2) e^(-x^2 / 2) / sqrt(2 pi)
  const Tensor xx = square(x);
  return mul(mul(exp(mul(xx, -0.5)), sub(2, xx)), 0.39894228040143268);
}

Tensor gelu_tanh_curvature(const Operand& x) {
  // s (1 - s) (2 a + x ((1 - 2 s) a^2 + a')), a = du/dx twice
  constexpr double kTwiceRoot = 1.5957691216057308;  // 2 sqrt(2 / pi)
  constexpr double kCubic = 0.044715;
  const Tensor xx = square(x);
  const Tensor s = sigmoid(mul(mul(x, add(mul(xx, kCubic), 1)), kTwiceRoot));
  const Tensor a = mul(add(mul(xx, 3 * kCubic), 1), kTwiceRoot);
  const Tensor da = mul(x, 6 * kCubic * kTwiceRoot);
  const Tensor inner = add(mul(sub(1, mul(s, 2)), square(a)), da);
  return mul(mul(s, sub(1, s)), add(mul(a, 2), mul(x, inner)));
}

}  // namespace

constinit const Op kSigmoid = from_output({.name = "sigmoid",
                                           .formula = "y = 1 / (1 + e^-x)",
                                           .infer = infer_floating,
                                           .kernel = &kernels::sigmoid_kernels,
                                           .slope = sigmoid_grad});

constinit const Op kSigmoidGrad =
    of_slope({.name = "sigmoid_grad",
              .formula = "dx = g y (1 - y), for y = sigmoid(x)",
              .infer = infer_gradient,
              .kernel = &kernels::sigmoid_grad_kernels,
              .slope = sigmoid_grad,
              .curvature = [](const Operand& y) { return sub(1, mul(y, 2)); }});

constinit const Op kTanh = from_output({.name = "tanh",
                                        .formula = "y = tanh x",
                                        .infer = infer_floating,
                                        .kernel = &kernels::tanh_kernels,
                                        .slope = tanh_grad});

constinit const Op kTanhGrad =
    of_slope({.name = "tanh_grad",
              .formula = "dx = g (1 - y^2), for y = tanh(x)",
              .infer = infer_gradient,
              .kernel = &kernels::tanh_grad_kernels,
              .slope = tanh_grad,
              .curvature = [](const Operand& y) { return mul(y, -2); }});

constinit const Op kLogSigmoid =
    from_output({.name = "log_sigmoid",
                 .formula = "y = -ln(1 + e^-x); dx = dy (1 - e^y)",
                 .infer = infer_floating,
                 .kernel = &kernels::log_sigmoid_kernels,
                 .slope = log_sigmoid_grad});

constinit const Op kLogSigmoidGrad =
    of_slope({.name = "log_sigmoid_grad",
              .formula = "dx = g (1 - e^y), for y = log_sigmoid(x)",
              .infer = infer_gradient,
              .kernel = &kernels::log_sigmoid_grad_kernels,
              .slope = log_sigmoid_grad,
              .curvature = [](const Operand& y) { return neg(exp(y)); }});

constinit const Op kSilu = from_input({.name = "silu",
                                       .formula = "y = x sigmoid(x)",
                                       .infer = infer_floating,
                                       .kernel = &kernels::silu_kernels,
                                       .slope = silu_grad});

constinit const Op kSiluGrad =
    of_slope({.name = "silu_grad",
              .formula = "dx = g s (1 + x (1 - s)), s = sigmoid(x)",
              .infer = infer_gradient,
              .kernel = &kernels::silu_grad_kernels,
              .slope = silu_grad,
              .curvature = silu_curvature});

constinit const Op kMish =
    from_input({.name = "mish",
                .formula = "y = x tanh(ln(1 + e^x)) (Misra, 2019)",
                .infer = infer_floating,
                .kernel = &kernels::mish_kernels,
                .slope = mish_grad});

constinit const Op kMishGrad =
    of_slope({.name = "mish_grad",
              .formula = "dx = g (w + x w'), w = tanh(ln(1 + e^x))",
              .infer = infer_gradient,
              .kernel = &kernels::mish_grad_kernels,
              .slope = mish_grad,
              .curvature = mish_curvature});

constinit const Op kHardSwish = from_input(
    {.name = "hard_swish",
     .formula = "y = x clip(x + 3, 0, 6) / 6, dy/dx = 0 at -3 and 1 at 3 "
                "(Howard et al., ICCV 2019)",
     .infer = infer_floating,
     .kernel = &kernels::hard_swish_kernels,
     .slope = [](const Operand& dy, const Operand& x) {
       return mul(dy,
                  where(ge(x, 3), 1, where(le(x, -3), 0, add(div(x, 3), 0.5))));
     }});

constinit const Op kGelu =
    from_input({.name = "gelu",
                .formula = "y = x (1 + erf(x / sqrt 2)) / 2",
                .infer = infer_floating,
                .kernel = &kernels::gelu_kernels,
                .slope = gelu_grad});

constinit const Op kGeluGrad = of_slope(
    {.name = "gelu_grad",
     .formula = "dx = g (P(x) + x P'(x)), P(x) = (1 + erf(x / sqrt 2)) / 2",
     .infer = infer_gradient,
     .kernel = &kernels::gelu_grad_kernels,
     .slope = gelu_grad,
     .curvature = gelu_curvature});

constinit const Op kGeluTanh = from_input(
    {.name = "gelu_tanh",
     .formula = "y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3)",
     .infer = infer_floating,
     .kernel = &kernels::gelu_tanh_kernels,
     .slope = gelu_tanh_grad});

constinit const Op kGeluTanhGrad = of_slope(
    {.name = "gelu_tanh_grad",
     .formula =
         "dx = g (s + x s'), s = sigmoid(2 u(x)), of gelu's form by tanh",
     .infer = infer_gradient,
     .kernel = &kernels::gelu_tanh_grad_kernels,
     .slope = gelu_tanh_grad,
     .curvature = gelu_tanh_curvature});

Tensor sigmoid_grad(const Operand& g, const Operand& y) {
  return graph::apply(kSigmoidGrad, {g, y});
}

Tensor tanh_grad(const Operand& g, const Operand& y) {
  return graph::apply(kTanhGrad, {g, y});
}

Tensor log_sigmoid_grad(const Operand& g, const Operand& y) {
  return graph::apply(kLogSigmoidGrad, {g, y});
}

Tensor silu_grad(const Operand& g, const Operand& x) {
  return graph::apply(kSiluGrad, {g, x});
}

Tensor mish_grad(const Operand& g, const Operand& x) {
  return graph::apply(kMishGrad, {g, x});
}

Tensor gelu_grad(const Operand& g, const Operand& x) {
  return graph::apply(kGeluGrad, {g, x});
}

Tensor gelu_tanh_grad(const Operand& g, const Operand& x) {
  return graph::apply(kGeluTanhGrad, {g, x});
}

}  // namespace ops

Tensor sigmoid(const TensorOperand& x) {
  return graph::apply(ops::kSigmoid, {x});
}

Tensor tanh(const TensorOperand& x) {
  return graph::apply(ops::kTanh, {x});
}

Tensor log_sigmoid(const TensorOperand& x) {
  return graph::apply(ops::kLogSigmoid, {x});
}

Tensor silu(const TensorOperand& x) {
  return graph::apply(ops::kSilu, {x});
}

Tensor mish(const TensorOperand& x) {
  return graph::apply(ops::kMish, {x});
}

Tensor hard_swish(const TensorOperand& x) {
  return graph::apply(ops::kHardSwish, {x});
}

Tensor softsign(const TensorOperand& x) {
  const ops::AtSite here(x);
  const Tensor& value = ops::tensor_of("softsign", x);
  return div(value, add(abs(value), 1));
}

Tensor gelu(const TensorOperand& x, GeluForm form) {
  return graph::apply(form == GeluForm::kExact ? ops::kGelu : ops::kGeluTanh,
                      {x});
}

}  // namespace neap
