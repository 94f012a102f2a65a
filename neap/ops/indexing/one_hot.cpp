// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/one_hot.hpp"

#include "neap/kernels/indexing/one_hot.hpp"
#include "neap/ops/indexing/labels.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kOneHot{.name = "one_hot",
                 .formula = "y[c] = label == c",
                 .infer =
                     [](const OpArgs& args, std::span<Spec> out) {
                       const auto& attrs = args.attrs.as<OneHotAttrs>();
                       check_dtype("one_hot", args.inputs[0].dtype, i64);
                       out[0].dtype = attrs.dtype;
                       out[0].shape = args.inputs[0].shape;
                       out[0].shape.push_back(attrs.classes);
                     },
                 .kernel = &kernels::one_hot_kernels,
                 .facts = {}};

}  // namespace ops

Tensor one_hot(const Operand& labels, std::int64_t classes, DType dtype) {
  if (classes < 0) {
    base::raise<ValueError>("one_hot: {} classes, expected 0 or more", classes);
  }
  ops::check_labels("one_hot", ops::tensor_of("one_hot", labels), classes);
  return graph::apply(ops::kOneHot, {labels}, ops::OneHotAttrs{classes, dtype});
}

}  // namespace neap
