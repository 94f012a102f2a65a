// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear_rules.hpp"

#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::ops {

void infer_weighted(const OpArgs& args, std::span<Spec> out, std::size_t weight,
                    std::initializer_list<const char*> names) {
  const Spec& first = args.inputs[0];
  check_computes(args.name, first.dtype);
  for (std::size_t i = 1; i < args.inputs.size(); ++i) {
    const DType dtype = args.inputs[i].dtype;
    if (dtype == first.dtype ||
        (dtype == bf16 && first.dtype == f32 && i == weight)) {
      continue;
    }
    if (dtype == bf16) {
      raise<DTypeError>(
          "{}: {} is bf16 beside {} of {}; {} alone may be, beside f32",
          args.name, names.begin()[i], names.begin()[0], name_of(first.dtype),
          names.begin()[weight]);
    }
    raise<DTypeError>("{}: operands are {} and {}, cast one of them", args.name,
                      name_of(first.dtype), name_of(dtype));
  }
  out[0].dtype = first.dtype;
  out[0].shape = first.shape;
}

void check_half_weight(std::string_view op, const char* name,
                       const Tensor& weight) {
  if (weight.dtype() != bf16) {
    return;
  }
  if (is_grad_enabled() && weight.requires_grad()) {
    raise<DTypeError>(
        "{}: {} is bf16 and requires a gradient; what is trained is f32 or "
        "f64, what is bf16 must be frozen",
        op, name);
  }
  if (current_precision() == Precision::kBf16) {
    raise<DTypeError>(
        "{}: {} is bf16, which products in bf16 do not take: they round f32",
        op, name);
  }
}

void infer_linear(const OpArgs& args, std::span<Spec> out) {
  infer_weighted(args, out, 1, {"x", "w", "bias"});
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
