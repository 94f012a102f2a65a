// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Elements that are moved and not computed with: their size alone matters. A
// function over words reads what lies there as another type:
//   using Word [[gnu::may_alias]] = T;
#pragma once

#include <cstdint>

namespace neap::kernels {

/// visit(null pointer to a word of `size` bytes).
template <class Visit>
decltype(auto) by_word(int size, const Visit& visit) noexcept {
  switch (size) {
    case 1:
      return visit(static_cast<std::uint8_t*>(nullptr));
    case 2:
      return visit(static_cast<std::uint16_t*>(nullptr));
    case 4:
      return visit(static_cast<std::uint32_t*>(nullptr));
    default:
      return visit(static_cast<std::uint64_t*>(nullptr));
  }
}

}  // namespace neap::kernels
