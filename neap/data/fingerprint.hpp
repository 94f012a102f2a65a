// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A data set's contents as one number: XXH3 of its bytes and of whatever else
// its samples are computed from. A resumed run accepts no other set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "neap/base/api.hpp"

namespace neap::data {

/// A digest of the bytes and, where there is one, of what came `before` them.
NEAP_API std::uint64_t fingerprint(std::span<const std::byte> bytes,
                                   std::uint64_t before = 0) noexcept;
NEAP_API std::uint64_t fingerprint(std::initializer_list<std::int64_t> numbers,
                                   std::uint64_t before = 0) noexcept;

}  // namespace neap::data
