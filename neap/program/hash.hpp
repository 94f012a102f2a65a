// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Hash: what digests of programs are made with. For sources of this room.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <type_traits>

#include "neap/tensor/layout.hpp"

namespace neap::compiler {

// Feeds one hash; nothing is allocated.
class Hash {
 public:
  void add(const void* data, std::size_t size) noexcept {
    state_ = XXH3_64bits_withSeed(data, size, state_);
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) noexcept { add(&value, sizeof(value)); }
  void add(const tensor::Layout& layout) noexcept {
    add(layout.dtype);
    add(layout.offset);
    for (int axis = 0; axis < layout.shape.rank(); ++axis) {
      add(layout.shape[axis]);
      add(layout.strides[axis]);
    }
  }
  std::uint64_t get() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace neap::compiler
