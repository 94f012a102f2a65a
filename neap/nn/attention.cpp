// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/attention.hpp"

#include "neap/base/raise.hpp"
#include "neap/nn/for_parameter.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {

using base::raise;

namespace {

std::int64_t checked_dim(std::int64_t dim, std::int64_t heads, double dropout) {
  if (dim < 1 || heads < 1 || dim % heads != 0) {
    raise<ValueError>(
        "MultiheadAttention: dim {} and {} heads, expected heads that divide "
        "dim",
        dim, heads);
  }
  if (!(dropout >= 0.0 && dropout < 1.0)) {
    raise<ValueError>("MultiheadAttention: dropout is {}, expected 0 <= p < 1",
                      dropout);
  }
  return dim;
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t dim, std::int64_t heads,
                                       const MultiheadAttentionOptions& options,
                                       CallSite site)
    : heads_(heads),
      dropout_(options.dropout),
      out_proj_(checked_dim(dim, heads, options.dropout), dim, options.bias,
                options.dtype, site) {
  in_proj_weight_ = register_parameter(
      "in_proj_weight", for_parameter({3 * dim, dim}, options.dtype, site),
      site);
  if (options.bias) {
    in_proj_bias_ = register_parameter(
        "in_proj_bias", for_parameter({3 * dim}, options.dtype, site), site);
    constant_(in_proj_bias_, 0.0, site);
    constant_(out_proj_.bias(), 0.0, site);
  }
  xavier_uniform_(in_proj_weight_, 1.0, site);
  name_parts();
}

MultiheadAttention::MultiheadAttention(const MultiheadAttention& other,
                                       Cloning& cloning)
    : Cloneable(other, cloning),
      heads_(other.heads_),
      dropout_(other.dropout_),
      in_proj_weight_(parameter("in_proj_weight")),
      in_proj_bias_(other.in_proj_bias_.is_given() ? parameter("in_proj_bias")
                                                   : Tensor()),
      out_proj_(other.out_proj_, cloning) {
  name_parts();
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key,
                                      const Tensor& value,
                                      const AttentionMask& mask,
                                      CallSite site) const {
  const ModuleScope scope(*this, site);
  Tensor y = attend(query, key, value, mask);
  scope.note(y, query, key, value);
  return y;
}

Tensor MultiheadAttention::forward(const Tensor& x) const {
  return attend(x, x, x, {});
}

// x by `count` of the three projections from `first` on: (b, t, count, heads,
// width).
Tensor MultiheadAttention::projected(const Tensor& x, std::int64_t first,
                                     std::int64_t count) const {
  const std::int64_t dim = in_proj_weight_.shape()[1];
  if (x.rank() != 3) {
    raise<ShapeError>("MultiheadAttention: {}, expected (b, t, {})",
                      format_shape(x.shape()), dim);
  }
  const auto part = [&](const Tensor& all) {
    return count == 3 ? all : narrow(all, 0, first * dim, count * dim);
  };
  const Tensor weight = part(in_proj_weight_);
  const Tensor y = in_proj_bias_.is_given()
                       ? linear(x, weight, part(in_proj_bias_))
                       : linear(x, weight);
  return reshape(y, {x.shape()[0], x.shape()[1], count, heads_, dim / heads_});
}

Tensor MultiheadAttention::attend(const Tensor& query, const Tensor& key,
                                  const Tensor& value,
                                  const AttentionMask& mask) const {
  const bool is_self = query.shared() == key.shared();
  const bool is_shared = key.shared() == value.shared();
  const auto part = [](const Tensor& all, std::int64_t which) {
    return permute(select(all, 2, which), {0, 2, 1, 3});
  };
  Tensor q;
  Tensor k;
  Tensor v;
  if (is_self && is_shared) {
    const Tensor all = projected(query, 0, 3);
    q = part(all, 0);
    k = part(all, 1);
    v = part(all, 2);
  } else if (is_shared) {
    const Tensor both = projected(key, 1, 2);
    q = part(projected(query, 0, 1), 0);
    k = part(both, 0);
    v = part(both, 1);
  } else {
    q = part(projected(query, 0, 1), 0);
    k = part(projected(key, 1, 1), 0);
    v = part(projected(value, 2, 1), 0);
  }
  const Tensor y =
      scaled_dot_product_attention(q, k, v,
                                   {.mask = mask.mask,
                                    .is_causal = mask.is_causal,
                                    .dropout = is_training() ? dropout_ : 0.0});
  return out_proj_(reshape(transpose(y, 1, 2), query.shape()));
}

template class Cloneable<MultiheadAttention>;

}  // namespace neap::nn
