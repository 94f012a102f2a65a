// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/body.hpp"

namespace neap::tensor {

base::Ref<Body> Body::create(base::Ref<Array> array, base::Ref<GraphLink> link,
                             std::uint32_t output) {
  memory::Domain& domain = array->domain();
  if (void* place = array->take_body_place()) {
    return place_at(place, domain, std::move(array), std::move(link), output);
  }
  const memory::Tag tag = array->storage()->header_tag();
  return Counted<Body>::create(domain, tag, 0, std::move(array),
                               std::move(link), output);
}

void Body::rebind(const Body& other) noexcept {
  base::Ref<Array> old = std::exchange(array_, other.array_);
  link_ = other.link_;
  output_ = other.output_;
  if (is_placed() && !home_) {
    if (old->is_unique() && old->storage()->is_unique()) {
      old->storage()->let_go();
    }
    home_ = std::move(old);
  }
}

// The array outlives the body that lies in its block.
void Body::end() noexcept {
  if (is_placed()) {
    const base::Ref<Array> home = home_ ? home_ : array_;
    std::destroy_at(this);
    home->give_body_place();
  } else {
    destroy(this);
  }
}

}  // namespace neap::tensor
