// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/array.hpp"

namespace neap::tensor {

base::Ref<Array> Array::make(base::Ref<Storage> storage, const Layout& layout) {
  memory::Tag tag = storage->tag();
  tag.category = memory::Category::kGraph;
  tag.space = memory::kHost;
  memory::Domain& domain = storage->domain();
  return create(domain, tag, 0, std::move(storage), layout);
}

base::Ref<Array> Array::allocate(const Spec& spec, memory::Tag tag,
                                 memory::Domain& domain) {
  const Layout layout = dense_layout(spec.dtype, spec.shape);
  tag.space = spec.space;
  auto storage = Storage::allocate(extent_bytes(layout), tag, domain);
  return make(std::move(storage), layout);
}

Strided Array::strided() const noexcept {
  std::byte* data = storage_->data();
  if (data != nullptr) {
    data += layout_.offset * size_of(layout_.dtype);
  }
  return {data, layout_.dtype, layout_.shape, layout_.strides};
}

}  // namespace neap::tensor
