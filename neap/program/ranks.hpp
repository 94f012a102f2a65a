// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ranks: the processes that share out the shards of a step's batch, as one of
// them sees the others. A program of several ranks has calls that exchange
// (CallKind::kExchange):
//
//   %t = sum_over_ranks()  over %s    the sum of all ranks' %s, in every rank
//   %w = share_rows()      over %v    the rows of all ranks, each of which has
//                                     filled in its own
//   %u = hand_on()         over %w    what one of them has, in every rank
//
// dist::Group implements it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "neap/base/bytes.hpp"
#include "neap/base/dtype.hpp"
#include "neap/base/rows_of_ranks.hpp"

namespace neap::compiler {

using base::RowsOfRanks;

class Ranks {
 public:
  virtual int rank() const noexcept = 0;
  virtual int count() const noexcept = 0;

  // A call of a step is one of all ranks: each says how many rows it has, then,
  // before the run, what it is about to run.

  /// The number of a step among those that were made with these ranks, which
  /// make the same ones in the same order.
  virtual std::uint64_t number_of_step() = 0;
  /// The rows of the whole batch, of which this rank has `mine`; `what`: of a
  /// call, or of prepare(). THROWS: RankMismatch where a rank is elsewhere or
  /// has other shards; ShapeError, in every rank, where the rows are not shared
  /// out as RowsOfRanks says.
  virtual std::int64_t rows_of_batch(std::int64_t mine, int shards,
                                     std::string_view what) = 0;
  /// THROWS: RankMismatch, in every rank, where `mine` differs between them.
  virtual void expect_equal(std::uint64_t mine, std::string_view what) = 0;
  /// In place of the next expect_equal(): this rank does not run, and the
  /// others get a RankMismatch.
  virtual void refuse() noexcept = 0;
  /// Whether all ranks say yes. THROWS: RankMismatch where one is elsewhere.
  virtual bool all(bool mine, std::string_view what) = 0;
  /// Rank 0's number, in every rank. THROWS: RankLost; DistError.
  virtual std::uint64_t told(std::uint64_t mine, std::string_view what) = 0;
  /// `array` of rank `from` goes to that of rank `to`, of as many bytes; to the
  /// others it is nothing. THROWS: as told().
  virtual void hand_over(std::span<std::byte> array, int from, int to,
                         std::string_view what) = 0;

  // In a run. They allocate nothing. THROWS: RankLost; DistError.

  virtual Bytes staging_bytes(Bytes array) const noexcept = 0;
  /// Adds the arrays of all ranks, in place, by one binary tree in the order of
  /// the ranks. `dtype`: f32, f64, i32 or i64.
  virtual void sum(std::span<std::byte> array, DType dtype,
                   std::span<std::byte> staging, std::string_view what) = 0;
  /// `array` holds the rows of the batch, of `row` bytes each. A rank has those
  /// that are its own; afterwards all ranks have all of them.
  virtual void share(std::span<std::byte> array, const RowsOfRanks& rows,
                     Bytes row, std::string_view what) = 0;
  /// `array` becomes that of rank `from` in every rank.
  virtual void hand_on(std::span<std::byte> array, int from,
                       std::string_view what) = 0;
  /// An exchange has failed: what was under way may go on, so that the memory
  /// of the run stays as it is for as long as the process lives.
  virtual bool is_broken() const noexcept = 0;

  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
};

/// The attributes of an exchange: of all elements, or of rows in a memory of
/// outer x rows x row bytes.
struct ExchangeAttrs {
  static constexpr int kNobody = -1;

  bool is_sum = false;  // else rows are shared, or
  int from = kNobody;   // a rank's elements are handed on
  std::int64_t outer = 1;
  Bytes row = 0;
  RowsOfRanks rows{};
};

}  // namespace neap::compiler
