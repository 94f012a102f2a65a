// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Integers that cannot be mixed up: StrongId<struct OwnerTag> and the like.
#pragma once

#include <compare>
#include <cstdint>

namespace neap::base {

template <class Tag, class Rep = std::uint32_t>
struct StrongId {
  Rep value = 0;
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

}  // namespace neap::base
