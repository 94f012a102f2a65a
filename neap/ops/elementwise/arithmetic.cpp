// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/arithmetic.hpp"

#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/rules.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {

const Op kAdd{.name = "add",
              .formula = "y = a + b",
              .infer = infer_arithmetic,
              .kernel = &kernels::add_kernels,
              .vjp =
                  [](VjpContext& c) {
                    for (int i = 0; i < 2; ++i) {
                      if (c.needs(i)) {
                        c.set(i, sum_to(c.cotangent(), c.input_shape(i)));
                      }
                    }
                  },
              .jvp =
                  [](JvpContext& c) {
                    const Tensor& da = c.tangent(0);
                    const Tensor& db = c.tangent(1);
                    if (da.defined() && db.defined()) {
                      c.set(0, add(da, db));
                    } else {
                      c.set(0,
                            expand(da.defined() ? da : db, c.output().shape()));
                    }
                  },
              .facts = {.vjp_reads = {{{.shapes = 0b01}, {.shapes = 0b10}}},
                        .donates = 0b11,
                        .rows = rows_by_element}};

const Op kSub{
    .name = "sub",
    .formula = "y = a - b",
    .infer = infer_arithmetic,
    .kernel = &kernels::sub_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, sum_to(c.cotangent(), c.input_shape(0)));
          }
          if (c.needs(1)) {
            c.set(1, neg(sum_to(c.cotangent(), c.input_shape(1))));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& da = c.tangent(0);
          const Tensor& db = c.tangent(1);
          if (da.defined() && db.defined()) {
            c.set(0, sub(da, db));
          } else {
            c.set(0, expand(da.defined() ? da : neg(db), c.output().shape()));
          }
        },
    .facts = {.vjp_reads = {{{.shapes = 0b01}, {.shapes = 0b10}}},
              .donates = 0b11,
              .rows = rows_by_element}};

const Op kMul{.name = "mul",
              .formula = "y = a b, element by element",
              .infer = infer_arithmetic,
              .kernel = &kernels::mul_kernels,
              .vjp =
                  [](VjpContext& c) {
                    for (int i = 0; i < 2; ++i) {
                      if (c.needs(i)) {
                        c.set(i, sum_to(mul(c.cotangent(), c.input(1 - i)),
                                        c.input_shape(i)));
                      }
                    }
                  },
              .jvp =
                  [](JvpContext& c) {
                    Tensor d;
                    for (int i = 0; i < 2; ++i) {
                      if (c.tangent(i).defined()) {
                        d = add_defined(std::move(d),
                                        mul(c.tangent(i), c.input(1 - i)));
                      }
                    }
                    c.set(0, std::move(d));
                  },
              .facts = {.vjp_reads = {{{.inputs = 0b10, .shapes = 0b01},
                                       {.inputs = 0b01, .shapes = 0b10}}},
                        .donates = 0b11,
                        .rows = rows_by_element}};

const Op kDiv{
    .name = "div",
    .formula = "y = a / b, db = -dy y / b",
    .infer = infer_broadcast_floating,
    .kernel = &kernels::div_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor quotient = div(c.take_cotangent(), c.input(1));
          if (c.needs(0)) {
            c.set(0, sum_to(quotient, c.input_shape(0)));
          }
          if (c.needs(1)) {
            c.set(1, neg(sum_to(mul(quotient, c.output()), c.input_shape(1))));
          }
        },
    .jvp =
        [](JvpContext& c) {
          Tensor d;
          if (c.tangent(1).defined()) {
            d = neg(mul(c.output(), c.tangent(1)));
          }
          if (c.tangent(0).defined()) {
            d = add_defined(std::move(d), c.tangent(0));
          }
          d = div(std::move(d), c.input(1));
          c.set(0, expand(d, c.output().shape()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10, .shapes = 0b01},
                             {.inputs = 0b10, .outputs = 0b1}}},
              .donates = 0b11,
              .rows = rows_by_element}};

const Op kNeg{.name = "neg",
              .formula = "y = -x",
              .infer = infer_signed,
              .kernel = &kernels::neg_kernels,
              .vjp = [](VjpContext& c) { c.set(0, neg(c.take_cotangent())); },
              .jvp = [](JvpContext& c) { c.set(0, neg(c.tangent())); },
              .facts = {.donates = 0b1, .rows = rows_by_element}};

constinit const Op kAbs =
    from_input({.name = "abs",
                .formula = "y = |x|, dy/dx = 0 at 0",
                .infer = infer_signed,
                .kernel = &kernels::abs_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(dy, sign(x));
                }});

constinit const Op kSign =
    with_zero_slope({.name = "sign",
                     .formula = "y = -1, 0 or 1; dy/dx = 0",
                     .infer = infer_signed,
                     .kernel = &kernels::sign_kernels});

constinit const Op kSquare =
    from_input({.name = "square",
                .formula = "y = x^2",
                .infer = infer_signed,
                .kernel = &kernels::square_kernels,
                .slope = [](const Operand& dy, const Operand& x) {
                  return mul(mul(x, 2), dy);
                }});

constinit const Op kSqrt =
    from_output({.name = "sqrt",
                 .formula = "y = sqrt x, dx = dy / 2y",
                 .infer = infer_floating,
                 .kernel = &kernels::sqrt_kernels,
                 .slope = [](const Operand& dy, const Operand& y) {
                   return div(dy, mul(y, 2));
                 }});

constinit const Op kRsqrt =
    from_output({.name = "rsqrt",
                 .formula = "y = 1 / sqrt x, dx = -dy y^3 / 2",
                 .infer = infer_floating,
                 .kernel = &kernels::rsqrt_kernels,
                 .slope = [](const Operand& dy, const Operand& y) {
                   return mul(dy, mul(mul(square(y), y), -0.5));
                 }});

constinit const Op kReciprocal =
    from_output({.name = "reciprocal",
                 .formula = "y = 1 / x, dx = -dy y^2",
                 .infer = infer_floating,
                 .kernel = &kernels::reciprocal_kernels,
                 .slope = [](const Operand& dy, const Operand& y) {
                   return neg(mul(dy, square(y)));
                 }});

}  // namespace ops

Tensor add(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kAdd, a, b);
}

Tensor sub(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kSub, a, b);
}

Tensor mul(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kMul, a, b);
}

Tensor div(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kDiv, a, b);
}

Tensor neg(const TensorOperand& x) {
  return graph::apply(ops::kNeg, {x});
}

Tensor abs(const TensorOperand& x) {
  return graph::apply(ops::kAbs, {x});
}

Tensor sign(const TensorOperand& x) {
  return graph::apply(ops::kSign, {x});
}

Tensor square(const TensorOperand& x) {
  return graph::apply(ops::kSquare, {x});
}

Tensor sqrt(const TensorOperand& x) {
  return graph::apply(ops::kSqrt, {x});
}

Tensor rsqrt(const TensorOperand& x) {
  return graph::apply(ops::kRsqrt, {x});
}

Tensor reciprocal(const TensorOperand& x) {
  return graph::apply(ops::kReciprocal, {x});
}

}  // namespace neap
