// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/frozen_row.hpp"

#include "neap/ops/indexing/scatter.hpp"
#include "neap/ops/shape/expand.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {
namespace {

// `d` with zeros in that row, in its own memory where it is nobody else's.
Tensor without_row(Tensor d, std::int64_t row) {
  Shape one = d.shape();
  one[0] = 1;
  const CallSite site = CallSite::here();
  const Tensor index =
      expand(constant(static_cast<double>(row), i64, d.space(), site), one);
  const Tensor zero = expand(constant(0.0, d.dtype(), d.space(), site), one);
  return scatter_checked(std::move(d), 0, index, zero);
}

}  // namespace

const Op kFrozenRow{
    .name = "frozen_row",
    .formula = "y = x; dx = dy, but 0 in one row",
    .infer = infer_same,
    .view = [](const Layout& x, const Attrs&) { return x; },
    .vjp =
        [](VjpContext& c) {
          c.set(0, without_row(c.take_cotangent(), c.attrs<RowAttrs>().row));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, without_row(c.tangent(), c.attrs<RowAttrs>().row));
        },
    .facts = {.sample_axis = SampleAxis::kMixed}};

Tensor frozen_row(const Operand& x, std::int64_t row) {
  return graph::apply(kFrozenRow, {x}, RowAttrs{row});
}

}  // namespace neap::ops
