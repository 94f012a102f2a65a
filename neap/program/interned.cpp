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

std::size_t InternHash<ValueSpec>::of(const ValueSpec& spec) noexcept {
  WordHash hash;
  hash.add(static_cast<std::int64_t>(spec.dtype));
  hash.add(spec.shape);
  hash.add(spec.space.value);
  hash.add(spec.size);
  hash.add(static_cast<std::int64_t>(spec.category));
  hash.add(spec.owner.value);
  return hash.value();
}

template class InternPool<tensor::Layout>;
template class InternPool<ValueSpec>;

}  // namespace neap::compiler
