// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/support.hpp"

#include "neap/kernels/engine/convert.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/number_check.hpp"

namespace neap::ops {

void check_same_dtype(const OpArgs& args) {
  for (const Spec& input : args.inputs) {
    if (input.dtype != args.inputs[0].dtype) {
      raise<DTypeError>("{}: operands are {} and {}, cast one of them",
                        args.name, name_of(args.inputs[0].dtype),
                        name_of(input.dtype));
    }
  }
}

void check_computes(std::string_view op, DType dtype) {
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("{}: computes in f32 and f64, not in {}; cast first", op,
                      name_of(dtype));
  }
}

void check_signed(std::string_view op, DType dtype) {
  if (dtype != f32 && dtype != f64 && dtype != i32 && dtype != i64) {
    raise<DTypeError>("{}: takes f32, f64, i32 and i64, not {}; cast first", op,
                      name_of(dtype));
  }
}

void check_dtype(std::string_view op, DType dtype, DType expected) {
  if (dtype != expected) {
    raise<DTypeError>("{}: an operand is {}, expected {}", op, name_of(dtype),
                      name_of(expected));
  }
}

const Tensor& tensor_of(std::string_view op, const Operand& operand) {
  if (operand.is_number()) {
    raise<DTypeError>("{}: a plain number, expected a tensor", op);
  }
  return operand.tensor();
}

void infer_same(const OpArgs& args, std::span<Spec> out) {
  check_same_dtype(args);
  out[0].dtype = args.inputs[0].dtype;
  out[0].shape = args.inputs[0].shape;
}

void infer_signed(const OpArgs& args, std::span<Spec> out) {
  check_signed(args.name, args.inputs[0].dtype);
  infer_same(args, out);
}

void infer_floating(const OpArgs& args, std::span<Spec> out) {
  check_computes(args.name, args.inputs[0].dtype);
  infer_same(args, out);
}

void infer_gradient(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
  for (const Spec& input : args.inputs) {
    if (input.shape != out[0].shape) {
      raise<ShapeError>("{}: shapes {} and {}, expected equal ones", args.name,
                        format_shape(out[0].shape), format_shape(input.shape));
    }
  }
}

void infer_broadcast(const OpArgs& args, std::span<Spec> out) {
  infer_same(args, out);
  for (const Spec& input : args.inputs.subspan(1)) {
    if (input.shape != out[0].shape) {
      out[0].shape = base::broadcast(args.name, out[0].shape, input.shape);
    }
  }
}

void infer_arithmetic(const OpArgs& args, std::span<Spec> out) {
  check_signed(args.name, args.inputs[0].dtype);
  infer_broadcast(args, out);
}

void infer_broadcast_floating(const OpArgs& args, std::span<Spec> out) {
  check_computes(args.name, args.inputs[0].dtype);
  infer_broadcast(args, out);
}

void infer_comparison(const OpArgs& args, std::span<Spec> out) {
  infer_broadcast(args, out);
  out[0].dtype = boolean;
}

namespace {

// `number` as a tensor of the other operand's dtype.
Tensor beside(std::string_view op, const Operand& number, const Tensor& other) {
  tensor::check_number(op, number.number(), other.dtype());
  return constant(number.number(), other.dtype(), other.space(), number.site());
}

}  // namespace

Operands::Operands(std::string_view op, const Operand& a, const Operand& b)
    : a_(a), b_(b) {
  if (a.is_number() && b.is_number()) {
    raise<DTypeError>("{}: two plain numbers, expected a tensor", op);
  }
  if (a.is_number()) {
    number_ = beside(op, a, b.tensor());
    a_ = Operand(std::as_const(number_), a.site());
  } else if (b.is_number()) {
    number_ = beside(op, b, a.tensor());
    b_ = Operand(std::as_const(number_), b.site());
  }
}

Tensor apply_pair(const Op& op, const Operand& a, const Operand& b) {
  const Operands both(op.name, a, b);
  return graph::apply(op, {both.a(), both.b()});
}

Tensor constant(double value, DType dtype, tensor::SpaceId space,
                const CallSite& site) {
  if (tensor::thread_execution().recorder != nullptr ||
      space != memory::kHost) {
    return filled({dtype, Shape(), space}, value, site);
  }
  // The same tensor, without the way through the dispatch point.
  Tensor number(tensor::Array::allocate(
      {dtype, Shape(), space},
      memory::current_tag(memory::Category::kActivations, base::intern(site)),
      memory::domain()));
  const tensor::Strided view = number.array()->strided();
  tensor::with_type(
      dtype, [&]<class T>(T*) { *view.as<T>() = kernels::convert<T>(value); });
  return number;
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

Tensor add_defined(Tensor a, Tensor b) {
  if (!a.defined() || !b.defined()) {
    return a.defined() ? a : b;
  }
  return add(std::move(a), std::move(b));
}

Cost moving(const OpArgs& args, std::span<const Spec> outputs,
            std::int64_t flops) {
  Cost cost{flops, 0, 0};
  const auto bytes = [](const Spec& spec) {
    return spec.shape.element_count() * size_of(spec.dtype);
  };
  for (const Spec& input : args.inputs) {
    cost.read += bytes(input);
  }
  for (const Spec& output : outputs) {
    cost.written += bytes(output);
  }
  return cost;
}

}  // namespace neap::ops
