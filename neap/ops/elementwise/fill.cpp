// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/fill.hpp"

#include "neap/kernels/engine/fill.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kFill{
    .name = "fill",
    .formula = "y = value",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const auto& attrs = args.attrs.as<FilledAttrs>();
          out[0].dtype = attrs.dtype;
          out[0].shape =
              Shape(std::span(attrs.extents)
                        .first(static_cast<std::size_t>(attrs.rank)));
          out[0].space = tensor::SpaceId{attrs.space};
        },
    .kernel = &kernels::fill_kernels,
    .facts = {.cost = [](const OpArgs& args, std::span<const Spec> outputs) {
      return moving(args, outputs, 0);
    }}};

FilledAttrs filled_attrs(const Spec& spec, double value) noexcept {
  FilledAttrs attrs;
  attrs.fill.value = value;
  std::copy(spec.shape.begin(), spec.shape.end(), attrs.extents.begin());
  attrs.rank = spec.shape.rank();
  attrs.dtype = spec.dtype;
  attrs.space = spec.space.value;
  return attrs;
}

Tensor filled(const Spec& spec, double value, const CallSite& site) {
  const FilledAttrs attrs = filled_attrs(spec, value);
  Tensor out;
  graph::dispatch(kFill, {}, attrs, site, std::span(&out, 1));
  return out;
}

}  // namespace ops

}  // namespace neap
