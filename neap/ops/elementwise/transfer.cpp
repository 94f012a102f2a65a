// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/transfer.hpp"

#include "neap/kernels/engine/kernel.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kTransfer{
    .name = "transfer",
    .formula = "y = x, in another memory space",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_same(args, out);
          out[0].space = args.attrs.as<TransferAttrs>().to;
        },
    .transfer = true,
    .vjp =
        [](VjpContext& c) {
          c.set(0, to(c.take_cotangent(), c.attrs<TransferAttrs>().from));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, to(c.tangent(), c.attrs<TransferAttrs>().to));
        },
    .facts = {.cost = [](const OpArgs& args, std::span<const Spec> outputs) {
      return moving(args, outputs, 0);
    }}};

}  // namespace ops

Tensor to(const TensorOperand& x, tensor::SpaceId space) {
  const Tensor& value = ops::tensor_of("to", x);
  if (value.space() == space) {
    return value;
  }
  const ops::AtSite here(x);
  if (value.space() != memory::kHost && space != memory::kHost) {
    return to(to(x, memory::kHost), space);
  }
  return graph::apply(ops::kTransfer, {x},
                      ops::TransferAttrs{value.space(), space});
}

}  // namespace neap
