// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/array.hpp"

#include "neap/tensor/body.hpp"

namespace neap::tensor {
namespace {

// Parts of a block follow one another without gaps.
static_assert(alignof(Storage) == alignof(Array) &&
              alignof(Array) == alignof(Body));
constexpr auto kArrayAndBody = static_cast<Bytes>(sizeof(Array) + sizeof(Body));

Bytes bytes_of(const Spec& spec) {
  return base::checked_mul(spec.shape.element_count(), size_of(spec.dtype));
}

}  // namespace

base::Ref<Array> Array::make(base::Ref<Storage> storage, const Layout& layout) {
  const memory::Tag tag = storage->header_tag();
  memory::Domain& domain = storage->domain();
  return create(domain, tag, static_cast<Bytes>(sizeof(Body)),
                std::move(storage), layout);
}

base::Ref<Array> Array::allocate(const Spec& spec, memory::Tag tag,
                                 memory::Domain& domain) {
  tag.space = spec.space;
  return in_block_of(
      Storage::allocate(bytes_of(spec), tag, domain, kArrayAndBody), spec);
}

base::Ref<Array> Array::allocate_away(const Spec& spec, memory::Tag tag,
                                      memory::Domain& domain) {
  tag.space = spec.space;
  return in_block_of(
      Storage::allocate_away(bytes_of(spec), tag, domain, kArrayAndBody), spec);
}

base::Ref<Array> Array::in_block_of(base::Ref<Storage> storage,
                                    const Spec& spec) {
  void* place = storage.get() + 1;
  memory::Domain& domain = storage->domain();
  return place_at(place, domain, std::move(storage),
                  dense_layout(spec.dtype, spec.shape));
}

void* Array::take_body_place() noexcept {
  return has_body_.exchange(true, std::memory_order_acquire) ? nullptr
                                                             : this + 1;
}

void Array::give_body_place() noexcept {
  has_body_.store(false, std::memory_order_release);
}

SharedBlock& Array::share_block() noexcept {
  SharedBlock& block = is_placed() ? static_cast<SharedBlock&>(*storage_)
                                   : static_cast<SharedBlock&>(*this);
  block.share();
  return block;
}

// Frees all that an array holds, which does not wait for a co-allocated body.
void Array::let_go() noexcept {
  storage_ = nullptr;
}

void Array::end() noexcept {
  if (has_tangents()) {
    drop_tangents();
  }
  if (is_placed()) {
    destroy(this);  // a body there shares the storage's block
    return;
  }
  let_go();
  if (owner_ends()) {
    destroy(this);
  }
}

}  // namespace neap::tensor
