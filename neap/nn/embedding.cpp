// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/embedding.hpp"

#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/indexing/embedding.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {

using base::raise;

Embedding::Embedding(std::int64_t rows, std::int64_t width,
                     std::optional<std::int64_t> padding, DType dtype,
                     CallSite site) {
  if (rows <= 0 || width <= 0) {
    raise<ValueError>("Embedding: {} rows of {}, expected at least one", rows,
                      width);
  }
  if (padding && (*padding < -rows || *padding >= rows)) {
    raise<ValueError>("Embedding: padding {} is none of {} rows", *padding,
                      rows);
  }
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("Embedding: computes in f32 and f64, not in {}",
                      name_of(dtype));
  }
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  const NoGrad no_grad;
  weight_ =
      register_parameter("weight", empty({rows, width}, dtype, site), site);
  if (!padding) {
    normal_(weight_, 0.0, 1.0, site);
    return;
  }
  padding_ = *padding < 0 ? *padding + rows : *padding;
  const Tensor row = select(weight_, 0, *padding_);
  normal_(weight_, 0.0, 1.0, site);
  constant_(row, 0.0, site);
}

Embedding::Embedding(const Tensor& weight, CallSite site) {
  if (weight.rank() != 2) {
    raise<ShapeError>("Embedding: weight {}, expected (rows, width)",
                      format_shape(weight.shape()));
  }
  if (!is_floating(weight.dtype())) {
    raise<DTypeError>("Embedding: computes in f32 and f64, not in {}",
                      name_of(weight.dtype()));
  }
  weight_ = register_parameter("weight", weight, site);
  if (weight.dtype() == bf16) {
    requires_grad_(weight_, false);
  }
}

Embedding::Embedding(const Embedding& other, Cloning& cloning)
    : Cloneable(other, cloning),
      weight_(parameter("weight")),
      padding_(other.padding_) {}

Tensor Embedding::forward(const Tensor& ids) const {
  return embedding(weight_, ids, padding_);
}

template class Cloneable<Embedding>;

}  // namespace neap::nn
