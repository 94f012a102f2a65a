// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/diagonal_put.hpp"

#include "neap/ops/shape/diagonal.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {
namespace {

using kernels::DiagonalAttrs;

void infer_put(const OpArgs& args, std::span<Spec> out) {
  const auto& attrs = args.attrs.as<DiagonalAttrs>();
  const int first = static_cast<int>(attrs.first);
  const int second = static_cast<int>(attrs.second);
  Shape shape = args.inputs[0].shape;
  shape.erase(shape.rank() - 1);
  shape.insert(std::min(first, second),
               first < second ? attrs.first_extent : attrs.second_extent);
  shape.insert(std::max(first, second),
               first < second ? attrs.second_extent : attrs.first_extent);
  out[0].dtype = args.inputs[0].dtype;
  out[0].shape = shape;
}

}  // namespace

const Op kDiagonalPut{
    .name = "diagonal_put",
    .formula = "y = 0, but x on a diagonal",
    .infer = infer_put,
    .kernel = &kernels::diagonal_put_kernels,
    .vjp =
        [](VjpContext& c) {
          const auto a = c.attrs<DiagonalAttrs>();
          c.set(0, diagonal(c.take_cotangent(), a.offset, a.first, a.second));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, diagonal_put(c.tangent(), c.attrs<DiagonalAttrs>()));
        },
    .facts = {.sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

Tensor diagonal_put(const Operand& g, const DiagonalAttrs& attrs) {
  return graph::apply(kDiagonalPut, {g}, attrs);
}

}  // namespace neap::ops
