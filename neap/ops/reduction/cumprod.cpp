// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/cumprod.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/cumprod.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/shape/pad.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::CumulateAttrs;

// y_i = x_(i-1), or x_(i+1) where the recurrence comes from the end: for each
// element the one that it was computed from; `first` where there is none.
Tensor before(const Tensor& x, const CumulateAttrs& attrs, double first) {
  if (x.element_count() == 0) {
    return x;
  }
  std::array<std::int64_t, 2 * kMaxRank> pads{};
  const auto pairs = static_cast<std::size_t>(x.rank() - attrs.axis);
  pads[2 * pairs - 2] = attrs.reverse ? -1 : 1;
  pads[2 * pairs - 1] = attrs.reverse ? 1 : -1;
  return pad(x, std::span<const std::int64_t>(pads).first(2 * pairs),
             PadMode::kConstant, first);
}

CumulateAttrs turned(CumulateAttrs attrs) noexcept {
  attrs.reverse = !attrs.reverse;
  return attrs;
}

Tensor cumprod_by(const Operand& x, const CumulateAttrs& attrs) {
  return graph::apply(kCumprod, {x}, attrs);
}

Tensor scan_by(const Operand& a, const Operand& b, const CumulateAttrs& attrs) {
  return graph::apply(kLinearScan, {a, b}, attrs);
}

// The cotangents of all y_i with what reaches them through those after them:
// u_i = dy_i + a_(i+1) u_(i+1).
Tensor summed_back(const Tensor& a, const Operand& dy,
                   const CumulateAttrs& attrs) {
  const CumulateAttrs back = turned(attrs);
  return scan_by(before(a, back, 0.0), dy, back);
}

}  // namespace

const Op kCumprod{
    .name = "cumprod",
    .formula =
        "y_i = x_0 .. x_i along an axis, or from its end; dx_i = u_i y_(i-1), "
        "u_i = dy_i + x_(i+1) u_(i+1)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const DType dtype = args.inputs[0].dtype;
          if (dtype == bf16) {
            check_computes("cumprod", dtype);
          }
          out[0].dtype = is_floating(dtype) ? dtype : i64;
          out[0].shape = args.inputs[0].shape;
        },
    .kernel = &kernels::cumprod_kernels,
    .vjp =
        [](VjpContext& c) {
          const auto& attrs = c.attrs<CumulateAttrs>();
          const Tensor u = summed_back(c.input(0), c.take_cotangent(), attrs);
          c.set(0, mul(u, before(c.output(0), attrs, 1.0)));
        },
    .jvp =
        [](JvpContext& c) {
          const auto& attrs = c.attrs<CumulateAttrs>();
          const Tensor own = mul(c.tangent(), before(c.output(), attrs, 1.0));
          c.set(0, scan_by(c.input(), own, attrs));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_beside_axis}};

const Op kLinearScan{
    .name = "linear_scan",
    .formula =
        "y_i = a_i y_(i-1) + b_i along an axis, or from its end; db_i = u_i, "
        "da_i = u_i y_(i-1), u_i = dy_i + a_(i+1) u_(i+1)",
    .infer = infer_gradient,
    .kernel = &kernels::linear_scan_kernels,
    .vjp =
        [](VjpContext& c) {
          const auto& attrs = c.attrs<CumulateAttrs>();
          const Tensor u = summed_back(c.input(0), c.take_cotangent(), attrs);
          if (c.needs(0)) {
            c.set(0, mul(u, before(c.output(0), attrs, 0.0)));
          }
          if (c.needs(1)) {
            c.set(1, u);
          }
        },
    .jvp =
        [](JvpContext& c) {
          const auto& attrs = c.attrs<CumulateAttrs>();
          Tensor own = c.tangent(1);
          if (c.tangent(0).defined()) {
            own = add_defined(mul(c.tangent(0), before(c.output(), attrs, 0.0)),
                              std::move(own));
          }
          if (own.defined()) {
            c.set(0, scan_by(c.input(0), own, attrs));
          }
        },
    .facts = {.vjp_reads = {{{.inputs = 0b01, .outputs = 0b1},
                             {.inputs = 0b01}}},
              .donates = 0b11,
              .rows = rows_beside_axis}};

}  // namespace ops

Tensor cumprod(const TensorOperand& x, std::int64_t axis, bool reverse) {
  const int rank = ops::tensor_of("cumprod", x).rank();
  return ops::cumprod_by(x,
                         {.axis = base::normalize_axis("cumprod", axis, rank),
                          .reverse = reverse});
}

Tensor linear_scan(const Operand& a, const Operand& b, std::int64_t axis,
                   bool reverse) {
  const int rank = ops::tensor_of("linear_scan", a).rank();
  return ops::scan_by(a, b,
                      {.axis = base::normalize_axis("linear_scan", axis, rank),
                       .reverse = reverse});
}

}  // namespace neap
