// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/gradients.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"

namespace neap {

using base::raise;

Gradients::Gradients(std::span<const Tensor> inputs) {
  values_.resize(inputs.size());
  keys_.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    Key& key = keys_.emplace_back();
    key.spec = input.spec();
    key.output = input.output_index();
    key.link = input.link();
  }
}

bool Gradients::is_key_of(const Key& key, const Tensor& input) noexcept {
  return key.link && input.defined() && key.link.get() == input.link().get() &&
         key.output == input.output_index();
}

bool Gradients::contains(const Tensor& input) const noexcept {
  return std::any_of(keys_.begin(), keys_.end(), [&input](const Key& key) {
    return is_key_of(key, input);
  });
}

std::size_t Gradients::find(const Tensor& input) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(),
                   [&input](const Key& key) { return is_key_of(key, input); });
  if (found == keys_.end()) {
    raise<ValueError>(
        "gradients: a tensor of shape {} is not among the {} that gradients "
        "were asked for",
        format_shape(input.shape()), size());
  }
  return static_cast<std::size_t>(found - keys_.begin());
}

void Gradients::check_index(const char* op, std::size_t i) const {
  if (i >= size()) {
    raise<ValueError>("{}: gradient {} of {}, counted from 0", op, i, size());
  }
}

const Tensor& Gradients::operator[](std::size_t i) const {
  check_index("gradients", i);
  return values_[i];
}

Tensor Gradients::take(std::size_t i) {
  check_index("take", i);
  return std::move(values_[i]);
}

void Gradients::replace(std::size_t i, Tensor gradient) {
  check_index("replace", i);
  const tensor::Spec& spec = keys_[i].spec;
  if (gradient.shape() != spec.shape) {
    raise<ShapeError>("replace: shape {} for the gradient of a tensor of {}",
                      format_shape(gradient.shape()), format_shape(spec.shape));
  }
  if (gradient.dtype() != spec.dtype) {
    raise<DTypeError>("replace: {} for the gradient of a tensor of {}",
                      name_of(gradient.dtype()), name_of(spec.dtype));
  }
  values_[i] = std::move(gradient);
}

}  // namespace neap
