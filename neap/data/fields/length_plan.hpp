// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The lengths that batches are padded to: few, so that a compiled step has a
// plan for each, and such that little is padded.
//
// With n(l) samples of length l, k lengths c[1] < ... < c[k] pad
//
//   the sum over all samples of (the least c[i] >= l) - l
//
// items. plan_lengths() finds the k that pad the fewest, exactly: the best for
// the lengths up to l with i of them follows from the best for less with i - 1.
#pragma once

#include <cstdint>
#include <span>

#include "neap/base/api.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

/// The largest multiple that lengths may be of.
inline constexpr std::int64_t kMostMultiple = std::int64_t{1} << 20U;

/// At most `count` lengths in ascending order, multiples of `multiple`, the
/// last of which is at least the longest; none for no samples. Beyond 1024
/// lengths that are multiples apart, they are compared in coarser steps. Takes
/// time by the square of the number of different lengths. THROWS: OutOfMemory;
/// ValueError for a count outside [1, 256], a multiple outside [1, 2^20], or a
/// length outside [0, 2^40].
[[nodiscard]] NEAP_API memory::Vector<std::int64_t> plan_lengths(
    std::span<const std::int64_t> lengths, std::int64_t count,
    std::int64_t multiple = 1);

}  // namespace neap::data
