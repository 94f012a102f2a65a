// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/parts.hpp"

#include "neap/base/raise.hpp"
#include "neap/nn/for_parameter.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/linalg/gelu_linear.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {

using base::raise;

nn::Linear linear_of(const Sizes& sizes, bool is_drawn, DType dtype,
                     const CallSite& site) {
  const Tensor weight = nn::for_parameter({sizes.out, sizes.in}, dtype, site);
  const Tensor bias =
      sizes.has_bias
          ? nn::for_parameter({sizes.out}, dtype == bf16 ? f32 : dtype, site)
          : Tensor();
  nn::Linear layer(weight, bias, site);
  if (is_drawn) {
    nn::normal_(layer.weight(), 0.0, kDeviation, site);
    if (sizes.has_bias) {
      nn::constant_(layer.bias(), 0.0, site);
    }
  }
  return layer;
}

nn::Embedding embedding_of(std::int64_t rows, std::int64_t width, bool is_drawn,
                           DType dtype, const CallSite& site) {
  nn::Embedding layer(nn::for_parameter({rows, width}, dtype, site), site);
  if (is_drawn) {
    nn::normal_(layer.weight(), 0.0, kDeviation, site);
  }
  return layer;
}

void check_half_weights(const char* name, bool is_drawn, DType dtype) {
  if (is_drawn) {
    raise<ValueError>("{}: weights in bf16 that are drawn, expected f32", name);
  }
  if (dtype != f32) {
    raise<DTypeError>("{}: weights in bf16 beside {}, expected f32", name,
                      name_of(dtype));
  }
}

nn::Linear gpt_linear_of(const Sizes& sizes, const GptOptions& options,
                         const CallSite& site) {
  return options.is_drawn
             ? nn::Linear(sizes.in, sizes.out, sizes.has_bias, options.dtype,
                          site)
             : linear_of(sizes, false, weights_dtype(options), site);
}

Tensor gelu_through(const nn::Linear& layer, const Tensor& x, GeluForm form) {
  if (layer.is_adapted()) {
    return layer(gelu(x, form));
  }
  const nn::ModuleScope scope(layer);
  const Tensor& bias = layer.bias();
  Tensor y = bias.is_given() ? gelu_linear(x, layer.weight(), bias, form)
                             : gelu_linear(x, layer.weight(), form);
  scope.note(y, x);
  return y;
}

void check_tokens(const char* name, const Tensor& tokens, std::int64_t block) {
  if (tokens.rank() != 2 || tokens.shape()[1] > block) {
    raise<ShapeError>("{}: tokens {}, expected (b, t) with t at most {}", name,
                      format_shape(tokens.shape()), block);
  }
}

void check_targets(const char* name, const Tensor& targets,
                   const Tensor& tokens) {
  if (targets.shape() != tokens.shape()) {
    raise<ShapeError>("{}: targets {} for tokens {}", name,
                      format_shape(targets.shape()),
                      format_shape(tokens.shape()));
  }
}

Tensor mean_loss(const Tensor& scores, const Tensor& targets,
                 const CallSite& site) {
  return cross_entropy(Operand(reshape(scores, {-1, scores.shape()[2]}), site),
                       reshape(targets, {-1}));
}

}  // namespace neap::models
