// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For sources of this room.
#pragma once

#include "neap/base/bytes.hpp"

namespace neap::compiler {

/// Bytes that vectors hold, room to grow counted.
template <class... Pools>
Bytes pool_bytes(const Pools&... pools) noexcept {
  return (Bytes{0} + ... +
          static_cast<Bytes>(pools.capacity() * sizeof(pools[0])));
}

}  // namespace neap::compiler
