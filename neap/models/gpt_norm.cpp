// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/gpt_norm.hpp"

#include "neap/autograd/rematerialise.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/norm/layer_norm.hpp"
#include "neap/ops/norm/rms_norm.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

Tensor filled(const GptOptions& options, double value, const CallSite& site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  return full({options.dim}, value, options.dtype, site);
}

struct Form {
  GptNormalise norm;
  double eps;
};

Tensor normalised(const Tensor& x, const Form& form, const Tensor& weight,
                  const Tensor& bias) {
  return form.norm == GptNormalise::kRmsNorm
             ? rms_norm(x, weight.shape(), weight, form.eps)
             : layer_norm(x, weight.shape(), weight, bias, form.eps);
}

Tensor product(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return bias.is_given() ? linear(x, weight, bias) : linear(x, weight);
}

// A call of a layer that does not need the layer: only its name and weights.
template <class Compute>
class Call {
 public:
  Call(const nn::Layer& layer, Compute compute)
      : layer_(base::Ref<nn::Registry>::share(&layer.registry())),
        compute_(std::move(compute)) {}

  Tensor operator()(const Tensor& x) const {
    const nn::ModuleScope scope(*layer_);
    Tensor y = compute_(x);
    scope.note(y, x);
    return y;
  }

 private:
  base::Ref<nn::Registry> layer_;
  Compute compute_;
};

}  // namespace

GptNorm::GptNorm(const GptOptions& options, CallSite site)
    : form_(options.norm),
      eps_(options.norm_eps),
      weight_(register_parameter("weight", filled(options, 1.0, site), site)) {
  if (options.bias && form_ == GptNormalise::kLayerNorm) {
    bias_ = register_parameter("bias", filled(options, 0.0, site), site);
  }
}

GptNorm::GptNorm(const GptNorm& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      form_(other.form_),
      eps_(other.eps_),
      weight_(parameter("weight")),
      bias_(other.bias_.is_given() ? parameter("bias") : Tensor()) {}

Tensor GptNorm::forward(const Tensor& x) const {
  return normalised(x, {form_, eps_}, weight_, bias_);
}

Tensor GptNorm::then(const nn::Linear& layer, const Tensor& x) const {
  if (layer.is_adapted()) {
    return layer((*this)(x));
  }
  Call norm(*this, [form = Form{form_, eps_}, weight = weight_,
                    bias = bias_](const Tensor& in) {
    return normalised(in, form, weight, bias);
  });
  Call times(layer,
             [weight = layer.weight(), bias = layer.bias()](const Tensor& in) {
               return product(in, weight, bias);
             });
  const auto both =
      rematerialise([norm = std::move(norm), times = std::move(times)](
                        const Tensor& in) { return times(norm(in)); },
                    {.keep = Keep::kComputeBound});
  return both(x);
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::GptNorm>;
}  // namespace neap::nn
