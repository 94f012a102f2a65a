// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Array: a layout on a storage, without any derivative. It is what a graph
// keeps of a tensor (a residual): no handle, no node, so it can take part in
// no cycle. Immutable but for the elements and the tangents that forward mode
// puts beside it (tangent.hpp).
//
// Headers share blocks, since a small tensor costs little else:
//
//   a fresh tensor     | Storage | Array | slot for a Body |   | elements |
//   a view of it       | Array | slot for a Body |
//
// The storage owns the first kind of block: it is freed with the last array on
// it.
#pragma once

#include "neap/tensor/layout.hpp"
#include "neap/tensor/storage.hpp"
#include "neap/tensor/strided.hpp"

namespace neap::tensor {

class Tangent;

class NEAP_API Array : public memory::Counted<Array>, public SharedBlock {
 public:
  /// THROWS: OutOfMemory.
  static base::Ref<Array> make(base::Ref<Storage> storage,
                               const Layout& layout);
  /// A dense array in a new storage of `spec`'s space, not initialised.
  /// THROWS: OutOfMemory, ShapeError when the size does not fit 64 bits.
  static base::Ref<Array> allocate(const Spec& spec, memory::Tag tag,
                                   memory::Domain& domain);
  /// The same, of zeros that take no memory until they are fetched.
  static base::Ref<Array> allocate_away(const Spec& spec, memory::Tag tag,
                                        memory::Domain& domain);

  // Created by make() and allocate().
  Array(base::Ref<Storage> storage, const Layout& layout) noexcept
      : SharedBlock(Owner::kArray),
        storage_(std::move(storage)),
        layout_(layout) {}

  void release() noexcept {
    if (drop_reference()) {
      end();
    }
  }
  /// The body that shares the block ends.
  void body_ends() noexcept {
    if (SharedBlock::body_ends()) {
      destroy(this);
    }
  }

  const base::Ref<Storage>& storage() const noexcept { return storage_; }
  const Layout& layout() const noexcept { return layout_; }
  const Shape& shape() const noexcept { return layout_.shape; }
  DType dtype() const noexcept { return layout_.dtype; }
  SpaceId space() const noexcept { return storage_->space(); }
  Spec spec() const { return {dtype(), shape(), space()}; }
  /// A plain view of the elements, in the storage's own space.
  Strided strided() const noexcept {
    std::byte* data = storage_->data();
    if (data != nullptr) {
      data += layout_.offset * size_of(layout_.dtype);
    }
    return {data, layout_.dtype, layout_.shape, layout_.strides};
  }

  /// True when a pass of forward mode carries this value.
  bool has_tangents() const noexcept {
    return tangents_.load(std::memory_order_acquire) != nullptr;
  }

  /// The slot for a body behind this array, or nullptr when it is taken.
  void* take_body_place() noexcept;
  void give_body_place() noexcept;
  /// The shared block, for the body in that slot when it drops its reference to
  /// this array; the body tells it when it ends. No other body takes the slot.
  /// REQUIRES: the caller holds a reference.
  SharedBlock& share_block() noexcept;

 private:
  static base::Ref<Array> in_block_of(base::Ref<Storage> storage,
                                      const Spec& spec);
  void end() noexcept;
  void let_go() noexcept;
  friend class TangentList;
  void drop_tangents() noexcept;

  // A list, one for each pass; no part of the value.
  mutable std::atomic<Tangent*> tangents_{nullptr};
  std::atomic<bool> has_body_{false};
  base::Ref<Storage> storage_;  // declared first: it may own this array's block
  Layout layout_;
};

}  // namespace neap::tensor
