// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The sum of an array over all ranks, by one binary tree in their order:
//
//   ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))          each element
//
// Recursive halving does it: in the first phase ranks 0 and 1 have half of the
// array each, in which they add what the other has, in the next phase ranks 0
// and 2 halves of that, and so on; then they hand around what they have, the
// other way. That moves 2 (R - 1) / R of the array a rank, the least there is,
// and adds in the order of the tree. (Thakur, Rabenseifner and Gropp,
// "Optimization of collective communication operations in MPICH", 2005; from
// the nearest neighbour instead of the farthest, which is what makes the sums a
// tree in the order of ranks.)
//
// Arrays move in chunks: one is added while the next are on their way, so that
// few of them lie in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "neap/base/bytes.hpp"
#include "neap/base/function_ref.hpp"
#include "neap/dist/engine.hpp"

namespace neap::dist {

inline constexpr Bytes kChunkBytes = 256 * kKiB;
/// Chunks that are on their way to a rank at a time.
inline constexpr int kWindow = 8;
/// The most that an exchange needs besides the array.
inline constexpr Bytes kStagingBytes = kWindow * kChunkBytes;

/// How long an exchange waits for a rank, and what is counted of it.
struct Exchanges {
  std::int64_t deadline = 60'000'000'000;  // nanoseconds without any progress
  // Counted:
  Bytes sent = 0;
  Bytes received = 0;
  std::int64_t waited = 0;  // nanoseconds
};

/// Staging for an array of so many bytes.
Bytes staging_bytes(Bytes array) noexcept;

/// Adds the arrays of all ranks, in place, in every rank. `what`: named where
/// it fails. `staging`: of staging_bytes(), aligned as a tensor is. Allocates
/// nothing. THROWS: RankLost; DistError. The array is of no use then.
void sum_over_ranks(Engine& engine, Exchanges& exchanges,
                    std::span<float> array, std::span<std::byte> staging,
                    std::string_view what);
void sum_over_ranks(Engine& engine, Exchanges& exchanges,
                    std::span<double> array, std::span<std::byte> staging,
                    std::string_view what);

void sum_over_ranks(Engine& engine, Exchanges& exchanges,
                    std::span<std::int32_t> array, std::span<std::byte> staging,
                    std::string_view what);
void sum_over_ranks(Engine& engine, Exchanges& exchanges,
                    std::span<std::int64_t> array, std::span<std::byte> staging,
                    std::string_view what);

/// The offset at which the bytes of a rank begin in an array; that of rank
/// `ranks` is its end.
using FirstOfRank = base::FunctionRef<std::int64_t(int)>;
/// Every rank has its bytes of the array; afterwards each has all of them.
/// Allocates nothing. THROWS: as sum_over_ranks().
void share_among_ranks(Engine& engine, Exchanges& exchanges,
                       std::span<std::byte> array, std::string_view what,
                       FirstOfRank first_of);

/// The array of rank `from` goes to that of rank `to`; the other ranks do
/// nothing. Allocates nothing. THROWS: as sum_over_ranks().
void hand_over_to(Engine& engine, Exchanges& exchanges,
                  std::span<std::byte> array, int from, int to,
                  std::string_view what);

/// Every rank gets what each has, in their order: `all` has ranks() times as
/// many bytes as `mine`. THROWS: as sum_over_ranks().
void gather_from_ranks(Engine& engine, Exchanges& exchanges,
                       std::span<const std::byte> mine,
                       std::span<std::byte> all, std::string_view what);

}  // namespace neap::dist
