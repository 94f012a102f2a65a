// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear_rules.hpp"

#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::ops {

void infer_linear(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
  const Shape& x = args.inputs[0].shape;
  const Shape& w = args.inputs[1].shape;
  if (x.rank() != 2 || w.rank() != 2 || x[1] != w[1]) {
    raise<ShapeError>("{}: x {} and w {}, expected (..., in) and (out, in)",
                      args.name, format_shape(x), format_shape(w));
  }
  if (args.inputs.size() > 2 && args.inputs[2].shape != Shape{w[0]}) {
    raise<ShapeError>("{}: bias {} for w {}, expected [{}]", args.name,
                      format_shape(args.inputs[2].shape), format_shape(w),
                      w[0]);
  }
  out[0].shape = {x[0], w[0]};
}

Tensor gain(Tensor sum, const Tensor& a, const Tensor& b) {
  return sum.defined() ? matmul_add(std::move(sum), a, b) : matmul(a, b);
}

Tensor as_rows(const Operand& x) {
  const Shape& shape = x.tensor().shape();
  std::int64_t rows = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) {
    rows = base::checked_mul(rows, shape[axis]);
  }
  return reshape(x, {rows, shape.back()});
}

Tensor as_before(const Tensor& y, const Tensor& x) {
  Shape shape = x.shape();
  shape[shape.rank() - 1] = y.shape()[1];
  return reshape(y, shape);
}

}  // namespace neap::ops
