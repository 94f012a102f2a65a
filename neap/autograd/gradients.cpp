// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/gradients.hpp"

#include <functional>

#include "neap/base/raise.hpp"

namespace neap {

using base::raise;

namespace {

constexpr std::size_t kFew = 16;  // keys that are searched one by one

}  // namespace

Gradients::Gradients(std::span<const Tensor> inputs) {
  values_.resize(inputs.size());
  keys_.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    Key& key = keys_.emplace_back();
    key.spec = input.spec();
    key.output = input.output_index();
    key.link = input.link();
  }
  if (keys_.size() > kFew) {
    index_.reserve(keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      index_.add(hash_of(keys_[i].link.get(), keys_[i].output), i);
    }
  }
}

bool Gradients::is_key_of(const Key& key, const Tensor& input) noexcept {
  return key.link && input.defined() && key.link.get() == input.link().get() &&
         key.output == input.output_index();
}

std::size_t Gradients::hash_of(const tensor::GraphLink* link,
                               std::uint32_t output) noexcept {
  return std::hash<const void*>()(link) + output;
}

// SlotIndex::kNone where it is not among them.
std::size_t Gradients::position_of(const Tensor& input) const noexcept {
  if (!input.defined()) {
    return memory::SlotIndex::kNone;
  }
  const auto is_it = [&](std::size_t i) { return is_key_of(keys_[i], input); };
  if (index_.is_in_use()) {
    return index_.find(hash_of(input.link().get(), input.output_index()),
                       is_it);
  }
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (is_it(i)) {
      return i;
    }
  }
  return memory::SlotIndex::kNone;
}

bool Gradients::contains(const Tensor& input) const noexcept {
  return position_of(input) != memory::SlotIndex::kNone;
}

std::size_t Gradients::find(const Tensor& input) const {
  const std::size_t found = position_of(input);
  if (found == memory::SlotIndex::kNone) {
    raise<ValueError>(
        "gradients: a tensor of shape {} is not among the {} that gradients "
        "were asked for",
        format_shape(input.shape()), size());
  }
  return found;
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
