// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/interned.hpp"

namespace neap::compiler {

std::size_t InternHash<tensor::Layout>::of(
    const tensor::Layout& layout) noexcept {
  WordHash hash;
  hash.add(static_cast<std::int64_t>(layout.dtype));
  hash.add(layout.shape);
  hash.add(layout.strides);
  hash.add(layout.offset);
  return hash.value();
}

std::size_t InternHash<tensor::Spec>::of(const tensor::Spec& spec) noexcept {
  WordHash hash;
  hash.add(static_cast<std::int64_t>(spec.dtype));
  hash.add(spec.shape);
  hash.add(spec.space.value);
  return hash.value();
}

template class InternPool<tensor::Layout>;
template class InternPool<tensor::Spec>;

}  // namespace neap::compiler
