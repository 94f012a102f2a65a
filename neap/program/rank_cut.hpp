// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// RankCut: the part of a cut into shards that one rank runs (pass_shards.cpp).
// The program was traced for the batch of all ranks; this rank's arguments hold
// its own rows alone. What calls need whole is filled in by all ranks together,
// and a sum over the rank's shards becomes one over those of all. For sources
// of this room.
#pragma once

#include <string_view>

#include "neap/program/program.hpp"
#include "neap/program/ranks.hpp"
#include "neap/program/rows.hpp"

namespace neap::compiler {

class RankCut {
 public:
  /// `ranks`: nullptr: there is one. THROWS: OutOfMemory; TraceError for a
  /// step that writes to or returns an argument that holds rows.
  RankCut(Program& program, const Ranks* ranks, std::int64_t rows,
          std::uint32_t shards);

  std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(rows_.ranks);
  }
  bool has_others() const noexcept { return rows_.ranks > 1; }
  std::uint32_t first_shard() const noexcept {
    return static_cast<std::uint32_t>(rank_ * rows_.shards_of_rank());
  }
  std::uint32_t end_shard() const noexcept {
    return first_shard() + static_cast<std::uint32_t>(rows_.shards_of_rank());
  }
  /// The rows of a shard, as numbered in the batch.
  RowRange range_of(std::int64_t shard) const noexcept {
    const std::int64_t first = rows_.first_of_shard(shard);
    return {first, rows_.first_of_shard(shard + 1) - first};
  }
  /// The same rows, as numbered in an argument.
  RowRange in_argument(const RowRange& rows) const noexcept {
    return {rows.first - rows_.first_of_rank(rank_), rows.count};
  }
  /// This rank's rows.
  RowRange own() const noexcept {
    return {rows_.first_of_rank(rank_), rows_.rows_of_rank(rank_)};
  }
  /// The value is an argument of which each rank has its rows.
  bool is_shared_out(ValueId id) const noexcept {
    return id.value < shared_out_.size() && shared_out_[id.value] != 0;
  }

  /// A call, without operands yet, that adds up what all ranks have of so many
  /// bytes.
  Call sum(const Call& near, Bytes bytes);
  /// The same, which fills a memory that holds `rows` in this way.
  Call share(const Call& near, const ValueRows& rows, DType dtype);
  /// Bytes that this rank sends in the exchanges so far.
  Bytes sent() const noexcept { return sent_; }
  /// The program's arguments are those of this rank from now on.
  void cut_arguments();

 private:
  void mark_arguments();
  void expect_unwritten() const;

  Program& program_;
  RowsOfRanks rows_;
  std::int64_t rank_ = 0;
  Bytes sent_ = 0;
  memory::Vector<std::uint8_t> shared_out_;  // by value
};

/// An exchange, without operands yet, at the place of another call. THROWS:
/// OutOfMemory.
Call exchange_near(Program& program, const Call& near, std::string_view name,
                   const ExchangeAttrs& attrs);

/// A digest of what a step does, the same in all ranks. REQUIRES: no pass has
/// changed the program. THROWS: OutOfMemory.
std::uint64_t step_digest(const Program& program);
/// A digest of a program's exchanges, in their order.
std::uint64_t exchange_digest(const Program& program) noexcept;
/// Marks the externals whose elements the step reads as they were before it.
/// REQUIRES, THROWS: as step_digest().
void mark_compared(Program& program);
/// A digest of their elements, where these are in memory.
std::uint64_t state_digest(const Program& program) noexcept;
/// A number that changes when one of them is written, or is another one. It is
/// never 0, and means nothing to other ranks.
std::uint64_t state_writes(const Program& program) noexcept;
/// Each rank has rows of its own of that argument.
bool is_shared_out(const Program& program, std::size_t argument) noexcept;

}  // namespace neap::compiler
