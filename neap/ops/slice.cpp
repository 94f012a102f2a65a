// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/slice.hpp"

#include "neap/kernels/attrs.hpp"
#include "neap/ops/slice_put.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::SliceAttrs;

// The position after the last element taken.
std::int64_t stop_of(const SliceAttrs& attrs) noexcept {
  return attrs.count == 0 ? attrs.start
                          : attrs.start + (attrs.count - 1) * attrs.step + 1;
}

Tensor slice_of(const Operand& x, const SliceAttrs& a) {
  return slice(x, a.axis, a.start, stop_of(a), a.step);
}

}  // namespace

const Op kSlice{
    .name = "slice",
    .formula = "y = every step-th element of a range of one axis of x",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const auto& attrs = args.attrs.as<SliceAttrs>();
          out[0].dtype = args.inputs[0].dtype;
          out[0].shape = args.inputs[0].shape;
          out[0].shape[static_cast<int>(attrs.axis)] = attrs.count;
        },
    .view =
        [](const Layout& x, const Attrs& attrs) {
          const auto& a = attrs.as<SliceAttrs>();
          return tensor::sliced(x, static_cast<int>(a.axis), a.start,
                                stop_of(a), a.step);
        },
    .vjp =
        [](VjpContext& c) {
          c.set(0, slice_put(c.take_cotangent(), c.attrs<SliceAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, slice_of(c.tangent(), c.attrs<SliceAttrs>()));
        },
    .facts = {.sample_axis = SampleAxis::kMixed}};

}  // namespace ops

Tensor slice(const Operand& x, std::int64_t axis, std::int64_t start,
             std::int64_t stop, std::int64_t step) {
  const Shape& shape = ops::tensor_of("slice", x).shape();
  if (step <= 0) {
    base::raise<ValueError>("slice: step {} is not positive", step);
  }
  const int along = base::normalize_axis("slice", axis, shape.rank());
  const std::int64_t extent = shape[along];
  const auto cut = [extent](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  const std::int64_t first = cut(start);
  const std::int64_t last = std::max(cut(stop), first);
  const std::int64_t count = last == first ? 0 : (last - first - 1) / step + 1;
  return graph::apply(ops::kSlice, {x},
                      ops::SliceAttrs{along, first, step, count, extent});
}

}  // namespace neap
