// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/exponential.hpp"

#include <numbers>

#include "neap/kernels/elementwise/exponential.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/rules.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {
namespace {

// b a^(b - 1), 0 where b is 0.
Tensor slope_of_base(const Tensor& a, const Tensor& b) {
  return where(eq(b, 0), 0, mul(b, pow(a, sub(b, 1))));
}

// y ln a, 0 where 0 is raised to no less than 0.
Tensor slope_of_exponent(const Tensor& a, const Tensor& b, const Tensor& y) {
  return where(logical_and(eq(a, 0), ge(b, 0)), 0, mul(y, log(a)));
}

constexpr double kErfAtZero = 2.0 * std::numbers::inv_sqrtpi;  // its slope

}  // namespace

constinit const Op kExp = from_output(
    {.name = "exp",
     .formula = "y = e^x",
     .infer = infer_floating,
     .kernel = &kernels::exp_kernels,
     .slope = [](const Operand& dy, const Operand& y) { return mul(dy, y); }});

constinit const Op kExpm1 =
    from_output({.name = "expm1",
                 .formula = "y = e^x - 1, dx = dy (y + 1)",
                 .infer = infer_floating,
                 .kernel = &kernels::expm1_kernels,
                 .slope = [](const Operand& dy, const Operand& y) {
                   return mul(dy, add(y, 1));
                 }});

constinit const Op kLog = from_input(
    {.name = "log",
     .formula = "y = ln x",
     .infer = infer_floating,
     .kernel = &kernels::log_kernels,
     .slope = [](const Operand& dy, const Operand& x) { return div(dy, x); }});

constinit const Op kLog1p =
    from_input({.name = "log1p",
                .formula = "y = ln(1 + x), dx = dy / (1 + x)",
                .infer = infer_floating,
                .kernel = &kernels::log1p_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return div(dy, add(x, 1));
                }});

constinit const Op kLog2 =
    from_input({.name = "log2",
                .formula = "y = log2 x, dx = dy / (x ln 2)",
                .infer = infer_floating,
                .kernel = &kernels::log2_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return div(dy, mul(x, std::numbers::ln2));
                }});

constinit const Op kLog10 =
    from_input({.name = "log10",
                .formula = "y = log10 x, dx = dy / (x ln 10)",
                .infer = infer_floating,
                .kernel = &kernels::log10_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return div(dy, mul(x, std::numbers::ln10));
                }});

const Op kPow{.name = "pow",
              .formula = "y = a^b, da = dy b a^(b - 1), db = dy y ln a",
              .infer = infer_broadcast_floating,
              .kernel = &kernels::pow_kernels,
              .vjp =
                  [](VjpContext& c) {
                    const Tensor a = c.input(0);
                    const Tensor b = c.input(1);
                    if (c.needs(0)) {
                      c.set(0, sum_to(mul(c.cotangent(), slope_of_base(a, b)),
                                      c.input_shape(0)));
                    }
                    if (c.needs(1)) {
                      c.set(1, sum_to(mul(c.take_cotangent(),
                                          slope_of_exponent(a, b, c.output())),
                                      c.input_shape(1)));
                    }
                  },
              .jvp =
                  [](JvpContext& c) {
                    const Tensor& a = c.input(0);
                    const Tensor& b = c.input(1);
                    Tensor d;
                    if (c.tangent(0).defined()) {
                      d = mul(c.tangent(0), slope_of_base(a, b));
                    }
                    if (c.tangent(1).defined()) {
                      d = add_defined(std::move(d),
                                      mul(c.tangent(1),
                                          slope_of_exponent(a, b, c.output())));
                    }
                    c.set(0, std::move(d));
                  },
              .facts = {.vjp_reads = {{{.inputs = 0b11},
                                       {.inputs = 0b11, .outputs = 0b1}}},
                        .donates = 0b11,
                        .rows = rows_by_element}};

constinit const Op kErf =
    from_input({.name = "erf",
                .formula = "y = 2 / sqrt(pi) integral of e^-t^2 from 0 to x",
                .infer = infer_floating,
                .kernel = &kernels::erf_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, mul(gaussian(x), kErfAtZero));
                }});

constinit const Op kErfc =
    from_input({.name = "erfc",
                .formula = "y = 1 - erf x",
                .infer = infer_floating,
                .kernel = &kernels::erfc_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, mul(gaussian(x), -kErfAtZero));
                }});

const Op kGaussian{
    .name = "gaussian",
    .formula = "y = e^-x^2, dx = -2 x y dy",
    .infer = infer_floating,
    .kernel = &kernels::gaussian_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0,
                mul(c.take_cotangent(), mul(mul(c.input(0), c.output()), -2)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, mul(c.tangent(), mul(mul(c.input(), c.output()), -2)));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_by_element}};

}  // namespace ops

Tensor exp(const TensorOperand& x) {
  return graph::apply(ops::kExp, {x});
}

Tensor expm1(const TensorOperand& x) {
  return graph::apply(ops::kExpm1, {x});
}

Tensor log(const TensorOperand& x) {
  return graph::apply(ops::kLog, {x});
}

Tensor log1p(const TensorOperand& x) {
  return graph::apply(ops::kLog1p, {x});
}

Tensor log2(const TensorOperand& x) {
  return graph::apply(ops::kLog2, {x});
}

Tensor log10(const TensorOperand& x) {
  return graph::apply(ops::kLog10, {x});
}

Tensor pow(const Operand& a, const Operand& b) {
  if (b.is_number() && !a.is_number()) {
    const double exponent = b.number();
    if (exponent == 2.0) {
      return square(a);
    }
    if (exponent == 0.5) {
      return sqrt(a);
    }
    if (exponent == -0.5) {
      return rsqrt(a);
    }
    if (exponent == -1.0) {
      return reciprocal(a);
    }
  }
  const ops::Operands both("pow", a, b);
  return graph::apply(ops::kPow, {both.a(), both.b()});
}

Tensor erf(const TensorOperand& x) {
  return graph::apply(ops::kErf, {x});
}

Tensor erfc(const TensorOperand& x) {
  return graph::apply(ops::kErfc, {x});
}

Tensor gaussian(const TensorOperand& x) {
  return graph::apply(ops::kGaussian, {x});
}

Tensor normal_pdf(const Operand& x, const Operand& mean,
                  const Operand& deviation) {
  constexpr double kHalfRoot = std::numbers::sqrt2 / 2;
  constexpr double kPeak = std::numbers::inv_sqrtpi * kHalfRoot;
  const ops::AtSite here(x);
  const Tensor distance = sub(ops::tensor_of("normal_pdf", x), mean);
  if (deviation.is_number()) {
    const double d = deviation.number();
    if (!(d > 0.0)) {
      base::raise<ValueError>("normal_pdf: deviation {}, expected above 0", d);
    }
    return mul(gaussian(mul(distance, kHalfRoot / d)), kPeak / d);
  }
  const Tensor& d = deviation.tensor();
  return div(mul(gaussian(mul(div(distance, d), kHalfRoot)), kPeak), d);
}

}  // namespace neap
