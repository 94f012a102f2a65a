// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For sources of this room.
#pragma once

#include <iterator>
#include <utility>

#include "neap/memory/containers.hpp"

namespace neap::compiler {

/// Bytes that vectors hold, room to grow counted.
template <class... Pools>
Bytes pool_bytes(const Pools&... pools) noexcept {
  return (Bytes{0} + ... +
          static_cast<Bytes>(pools.capacity() * sizeof(pools[0])));
}

/// Frees a table's capacity to grow, since it lives as long as the step.
/// THROWS: OutOfMemory.
template <class T>
void trim(memory::Vector<T>& table) {
  if (table.capacity() != table.size()) {
    memory::Vector<T> exact(table.get_allocator());
    exact.reserve(table.size());
    exact.assign(std::make_move_iterator(table.begin()),
                 std::make_move_iterator(table.end()));
    table = std::move(exact);
  }
}

}  // namespace neap::compiler
