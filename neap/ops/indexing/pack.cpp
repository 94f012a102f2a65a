// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/pack.hpp"

#include "neap/graph/trace.hpp"
#include "neap/kernels/indexing/pack.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/execution.hpp"

namespace neap {
namespace ops {
namespace {

struct PackAttrs {
  std::int64_t count = 0;
};

void infer_pack(const OpArgs& args, std::span<Spec> out) {
  check_dtype("pack", args.inputs[1].dtype, boolean);
  out[0].dtype = args.inputs[0].dtype;
  out[0].shape = {args.attrs.as<PackAttrs>().count};
}

}  // namespace

const Op kPack{
    .name = "pack",
    .formula = "y = the elements of x where the mask is true",
    .infer = infer_pack,
    .kernel = &kernels::pack_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            const Tensor& g = c.cotangent();
            const Tensor zero =
                constant(0.0, g.dtype(), g.space(), CallSite::here());
            c.set(0, unpack_checked(c.take_cotangent(), c.input(1), zero));
          }
        },
    .jvp =
        [](JvpContext& c) {
          if (c.tangent().defined()) {
            c.set(0, pack_checked(c.tangent(), c.input(1),
                                  c.attrs<PackAttrs>().count));
          }
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {}}},
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

Tensor pack_checked(const Operand& x, const Operand& mask, std::int64_t count) {
  return graph::apply(kPack, {x, mask}, PackAttrs{count});
}

namespace {

void check_mask_space(const char* op, const Tensor& mask) {
  if (mask.space() != memory::kHost) {
    raise<DeviceError>(
        "{}: the mask lies in memory space {}, expected the host's, since its "
        "count makes a shape",
        op, mask.space().value);
  }
}

void look_at_count(const char* op, std::span<const tensor::Strided> values,
                   const Attrs& attrs) {
  const auto have = attrs.as<std::int64_t>();
  const std::int64_t count = kernels::count_true(values[0], tensor::executor());
  if (have != count) {
    raise<ValueError>("{}: {} values for a mask of {}, expected as many", op,
                      have, count);
  }
}

}  // namespace

std::int64_t count_of_mask(const char* op, const Tensor& mask) {
  check_dtype(op, mask.dtype(), boolean);
  check_mask_space(op, mask);
  if (graph::trace() != nullptr) {
    raise<TraceError>(
        "{}: the count of the mask makes a shape, which a step that is traced "
        "cannot know; use where(), or call it outside",
        op);
  }
  return kernels::count_true(mask.array()->strided(), tensor::executor());
}

void check_mask_count(const char* op, const Tensor& mask, std::int64_t have) {
  check_dtype(op, mask.dtype(), boolean);
  check_mask_space(op, mask);
  graph::run_check({.op = op,
                    .look = look_at_count,
                    .values = std::span(&mask, 1),
                    .attrs = have,
                    .site = memory::thread_context().site});
}

}  // namespace ops

Tensor pack(const Operand& x, const Operand& mask) {
  const ops::AtSite here(x);
  const Tensor& from = ops::tensor_of("pack", x);
  const Tensor& bits = ops::tensor_of("pack", mask);
  const Shape shape = base::broadcast("pack", from.shape(), bits.shape());
  const Tensor all = expand(bits, shape);
  return ops::pack_checked(expand(x, shape), all,
                           ops::count_of_mask("pack", all));
}

namespace ops {
namespace {

void infer_unpack(const OpArgs& args, std::span<Spec> out) {
  const Spec& values = args.inputs[0];
  const Spec& mask = args.inputs[1];
  const Spec& fill = args.inputs[2];
  check_dtype("unpack", mask.dtype, boolean);
  check_dtype("unpack", fill.dtype, values.dtype);
  if (values.shape.rank() != 1 ||
      !base::broadcasts_to(fill.shape, mask.shape)) {
    raise<ShapeError>(
        "unpack: values {}, fill {} for a mask {}, expected one axis and a "
        "fill that broadcasts to the mask",
        format_shape(values.shape), format_shape(fill.shape),
        format_shape(mask.shape));
  }
  out[0].dtype = values.dtype;
  out[0].shape = mask.shape;
}

void vjp_unpack(VjpContext& c) {
  const Tensor mask = c.input(1);
  if (c.needs(0)) {
    c.set(0,
          pack_checked(c.cotangent(), mask, c.input_shape(0).element_count()));
  }
  if (c.needs(2)) {
    c.set(2, sum_to(where(mask, 0.0, c.take_cotangent()), c.input_shape(2)));
  }
}

void jvp_unpack(JvpContext& c) {
  const Tensor& values = c.tangent(0);
  const Tensor& fill = c.tangent(2);
  const auto zero = [&](int i) {
    const tensor::Spec spec = c.input_spec(i);
    return constant(0.0, spec.dtype, spec.space, CallSite::here());
  };
  if (values.defined()) {
    c.set(0,
          unpack_checked(values, c.input(1), fill.defined() ? fill : zero(2)));
  } else if (fill.defined()) {
    c.set(0, where(c.input(1), zero(0), fill));
  }
}

}  // namespace

const Op kUnpack{
    .name = "unpack",
    .formula = "y = fill; y[mask] = values",
    .infer = infer_unpack,
    .kernel = &kernels::unpack_kernels,
    .vjp = vjp_unpack,
    .jvp = jvp_unpack,
    .facts = {.vjp_reads = {{{.inputs = 0b010, .shapes = 0b001},
                             {},
                             {.inputs = 0b010, .shapes = 0b100}}},
              .donates = 0b100,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

Tensor unpack_checked(const Operand& values, const Operand& mask,
                      const Operand& fill) {
  return graph::apply(kUnpack, {values, mask, fill});
}

}  // namespace ops

Tensor unpack(const Operand& values, const Operand& mask, const Operand& fill) {
  const Tensor& bits = ops::tensor_of("unpack", mask);
  const ops::Operands both("unpack", values, fill);
  const std::int64_t have = ops::tensor_of("unpack", values).element_count();
  ops::check_mask_count("unpack", bits, have);
  return ops::unpack_checked(both.a(), mask, both.b());
}

}  // namespace neap
