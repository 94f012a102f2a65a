// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/support.hpp"

#include "neap/ops/fill.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/sum.hpp"

namespace neap::ops {

void check_same_dtype(const char* op, const OpArgs& args) {
  for (const Spec& input : args.inputs) {
    if (input.dtype != args.inputs[0].dtype) {
      raise<DTypeError>("{}: operands are {} and {}, cast one of them", op,
                        name_of(args.inputs[0].dtype), name_of(input.dtype));
    }
  }
}

void check_computes(const char* op, DType dtype) {
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("{}: computes in f32 and f64, not in {}; cast first", op,
                      name_of(dtype));
  }
}

void infer_same(const char* op, const OpArgs& args, Spec& out) {
  check_same_dtype(op, args);
  out.dtype = args.inputs[0].dtype;
  out.shape = args.inputs[0].shape;
}

void infer_floating(const char* op, const OpArgs& args, Spec& out) {
  check_computes(op, args.inputs[0].dtype);
  infer_same(op, args, out);
}

void infer_broadcast(const char* op, const OpArgs& args, Spec& out) {
  check_same_dtype(op, args);
  out.dtype = args.inputs[0].dtype;
  out.shape = args.inputs[0].shape;
  for (const Spec& input : args.inputs.subspan(1)) {
    out.shape = base::broadcast(op, out.shape, input.shape);
  }
}

Operands::Operands(const char* op, const Operand& a, const Operand& b)
    : a_(a), b_(b) {
  if (a.is_number() && b.is_number()) {
    raise<DTypeError>("{}: two plain numbers, expected a tensor", op);
  }
  if (a.is_number()) {
    number_ = constant(a.number(), b.tensor().dtype(), b.tensor().space(),
                       a.site());
    a_ = Operand(std::as_const(number_), a.site());
  } else if (b.is_number()) {
    number_ = constant(b.number(), a.tensor().dtype(), a.tensor().space(),
                       b.site());
    b_ = Operand(std::as_const(number_), b.site());
  }
}

Tensor constant(double value, DType dtype, tensor::SpaceId space,
                const CallSite& site) {
  return filled({dtype, Shape(), space}, value, site);
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) {
    return x;
  }
  const int added = x.rank() - shape.rank();
  std::uint64_t axes = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool stretched =
        axis < added || (shape[axis - added] == 1 && x.shape()[axis] != 1);
    axes |= stretched ? std::uint64_t{1} << static_cast<unsigned>(axis) : 0U;
  }
  return reshape(sum_axes(x, axes), shape);
}

}  // namespace neap::ops
