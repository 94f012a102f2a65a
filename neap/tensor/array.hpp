// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Array: a layout on a storage, without any derivative. It is what a graph
// keeps of a tensor (a residual): no handle, no node, so it can take part in
// no cycle. Immutable but for the elements.
#pragma once

#include "neap/tensor/layout.hpp"
#include "neap/tensor/storage.hpp"
#include "neap/tensor/strided.hpp"

namespace neap::tensor {

class NEAP_API Array : public memory::Counted<Array> {
 public:
  using memory::Counted<Array>::create;
  /// THROWS: OutOfMemory.
  static base::Ref<Array> make(base::Ref<Storage> storage,
                               const Layout& layout);
  /// A dense array in a new storage of `spec`'s space, not initialised.
  /// THROWS: OutOfMemory, ShapeError when the size does not fit 64 bits.
  static base::Ref<Array> allocate(const Spec& spec, memory::Tag tag,
                                   memory::Domain& domain);

  // Made by the two above.
  Array(base::Ref<Storage> storage, const Layout& layout) noexcept
      : storage_(std::move(storage)), layout_(layout) {}

  const base::Ref<Storage>& storage() const noexcept { return storage_; }
  const Layout& layout() const noexcept { return layout_; }
  const Shape& shape() const noexcept { return layout_.shape; }
  DType dtype() const noexcept { return layout_.dtype; }
  SpaceId space() const noexcept { return storage_->space(); }
  Spec spec() const { return {dtype(), shape(), space()}; }
  /// A plain view of the elements, in the storage's own space.
  Strided strided() const noexcept;

 private:
  base::Ref<Storage> storage_;
  Layout layout_;
};

}  // namespace neap::tensor
