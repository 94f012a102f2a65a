// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/trigonometry.hpp"

#include "neap/kernels/elementwise/trigonometry.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/rules.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {
namespace {

// 1 - x^2, exact near 1 and -1.
Tensor one_minus_square(const Operand& x) {
  return mul(sub(1, x), add(x, 1));
}

}  // namespace

constinit const Op kSin =
    from_input({.name = "sin",
                .formula = "y = sin x, dx = dy cos x",
                .infer = infer_floating,
                .kernel = &kernels::sin_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, cos(x));
                }});

constinit const Op kCos =
    from_input({.name = "cos",
                .formula = "y = cos x, dx = -dy sin x",
                .infer = infer_floating,
                .kernel = &kernels::cos_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return neg(mul(dy, sin(x)));
                }});

constinit const Op kTan =
    from_output({.name = "tan",
                 .formula = "y = tan x, dx = dy (y^2 + 1)",
                 .infer = infer_floating,
                 .kernel = &kernels::tan_kernels,
                 .slope = [](const Operand& dy, const Operand& y) {
                   return mul(dy, add(square(y), 1));
                 }});

constinit const Op kAsin =
    from_input({.name = "asin",
                .formula = "y = arcsin x, dx = dy / sqrt(1 - x^2)",
                .infer = infer_floating,
                .kernel = &kernels::asin_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, rsqrt(one_minus_square(x)));
                }});

constinit const Op kAcos =
    from_input({.name = "acos",
                .formula = "y = arccos x, dx = -dy / sqrt(1 - x^2)",
                .infer = infer_floating,
                .kernel = &kernels::acos_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return neg(mul(dy, rsqrt(one_minus_square(x))));
                }});

constinit const Op kAtan =
    from_input({.name = "atan",
                .formula = "y = arctan x, dx = dy / (x^2 + 1)",
                .infer = infer_floating,
                .kernel = &kernels::atan_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return div(dy, add(square(x), 1));
                }});

const Op kAtan2{
    .name = "atan2",
    .formula =
        "y = angle of (b, a), da = dy b / (a^2 + b^2), db = -dy a / (a^2 + "
        "b^2)",
    .infer = infer_broadcast_floating,
    .kernel = &kernels::atan2_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor a = c.input(0);
          const Tensor b = c.input(1);
          const Tensor d = div(c.take_cotangent(), add(square(a), square(b)));
          if (c.needs(0)) {
            c.set(0, sum_to(mul(d, b), c.input_shape(0)));
          }
          if (c.needs(1)) {
            c.set(1, neg(sum_to(mul(d, a), c.input_shape(1))));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& a = c.input(0);
          const Tensor& b = c.input(1);
          Tensor d;
          if (c.tangent(0).defined()) {
            d = mul(c.tangent(0), b);
          }
          if (c.tangent(1).defined()) {
            d = add_defined(std::move(d), neg(mul(c.tangent(1), a)));
          }
          c.set(0, div(std::move(d), add(square(a), square(b))));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b11}, {.inputs = 0b11}}},
              .donates = 0b11,
              .rows = rows_by_element}};

constinit const Op kSinh =
    from_input({.name = "sinh",
                .formula = "y = sinh x, dx = dy cosh x",
                .infer = infer_floating,
                .kernel = &kernels::sinh_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, cosh(x));
                }});

constinit const Op kCosh =
    from_input({.name = "cosh",
                .formula = "y = cosh x, dx = dy sinh x",
                .infer = infer_floating,
                .kernel = &kernels::cosh_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, sinh(x));
                }});

constinit const Op kAsinh =
    from_input({.name = "asinh",
                .formula = "y = arsinh x, dx = dy / sqrt(x^2 + 1)",
                .infer = infer_floating,
                .kernel = &kernels::asinh_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, rsqrt(add(square(x), 1)));
                }});

constinit const Op kAcosh =
    from_input({.name = "acosh",
                .formula = "y = arcosh x, dx = dy / sqrt(x^2 - 1)",
                .infer = infer_floating,
                .kernel = &kernels::acosh_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, rsqrt(mul(sub(x, 1), add(x, 1))));
                }});

constinit const Op kAtanh =
    from_input({.name = "atanh",
                .formula = "y = artanh x, dx = dy / (1 - x^2)",
                .infer = infer_floating,
                .kernel = &kernels::atanh_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return div(dy, one_minus_square(x));
                }});

}  // namespace ops

Tensor sin(const TensorOperand& x) {
  return graph::apply(ops::kSin, {x});
}

Tensor cos(const TensorOperand& x) {
  return graph::apply(ops::kCos, {x});
}

Tensor tan(const TensorOperand& x) {
  return graph::apply(ops::kTan, {x});
}

Tensor asin(const TensorOperand& x) {
  return graph::apply(ops::kAsin, {x});
}

Tensor acos(const TensorOperand& x) {
  return graph::apply(ops::kAcos, {x});
}

Tensor atan(const TensorOperand& x) {
  return graph::apply(ops::kAtan, {x});
}

Tensor atan2(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kAtan2, a, b);
}

Tensor sinh(const TensorOperand& x) {
  return graph::apply(ops::kSinh, {x});
}

Tensor cosh(const TensorOperand& x) {
  return graph::apply(ops::kCosh, {x});
}

Tensor asinh(const TensorOperand& x) {
  return graph::apply(ops::kAsinh, {x});
}

Tensor acosh(const TensorOperand& x) {
  return graph::apply(ops::kAcosh, {x});
}

Tensor atanh(const TensorOperand& x) {
  return graph::apply(ops::kAtanh, {x});
}

}  // namespace neap
