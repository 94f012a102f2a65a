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

// The array outlives the body that lies in its block.
void Body::end() noexcept {
  const base::Ref<Array> array = std::move(array_);
  if (is_placed()) {
    std::destroy_at(this);
    array->give_body_place();
  } else {
    destroy(this);
  }
}

}  // namespace neap::tensor
