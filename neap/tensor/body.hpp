// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Body: what copies of a handle share: an array and a place on the graph. A
// body lies in the place that every array's block has for one; a second body
// of the same array (a residual's handle beside the user's) has a block of its
// own.
#pragma once

#include "neap/tensor/array.hpp"
#include "neap/tensor/graph_link.hpp"

namespace neap::tensor {

class Body : public memory::Counted<Body> {
 public:
  /// THROWS: OutOfMemory, never when the array's own place is free.
  static base::Ref<Body> create(base::Ref<Array> array,
                                base::Ref<GraphLink> link,
                                std::uint32_t output);

  // Made by create().
  Body(base::Ref<Array> array, base::Ref<GraphLink> link,
       std::uint32_t output) noexcept
      : array_(std::move(array)), link_(std::move(link)), output_(output) {}

  /// Means what `other` means from now on. Elements that nobody else holds go
  /// at once; others with their last holder, or with this body.
  void rebind(const Body& other) noexcept;

  void release() noexcept {
    if (drop_reference()) {
      end();
    }
  }

 private:
  friend class neap::Tensor;
  void end() noexcept;

  base::Ref<Array> home_;  // whose block this lies in, if no longer array_'s
  base::Ref<Array> array_;
  base::Ref<GraphLink> link_;  // null: no derivative flows through
  std::uint32_t output_ = 0;   // which output of the linked node this is
};

}  // namespace neap::tensor
