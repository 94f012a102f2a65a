// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The bytes of a plan file: how the programs of a step were made to fit a
// limit, so that they are made so again without a search. This is the format
// alone; plan_book.hpp reads and writes files.
//
//   "NEAPPLAN"  u32 version  u32 plans  the facts, i64 each
//   of each plan: u64 program  u32 bytes  its record
//   u64 XXH3 of all that stands before
//
// Numbers are little-endian, plans are in the order of their programs, and
// nothing else is in a file: no path, host or date. The same plans give the
// same bytes. Whoever wrote a file, its counts are checked against its size
// before memory is asked for; what a record says is for its reader to check.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"
#include "neap/base/result.hpp"
#include "neap/budget/problem.hpp"
#include "neap/compile/away.hpp"

namespace neap::compiler {

inline constexpr std::uint32_t kPlanFileVersion = 6;
/// A file that is larger is none.
inline constexpr Bytes kMostPlanFileBytes = 64 * kMiB;

/// The limits and options that all plans of a file were made for.
enum class PlanFact : std::uint8_t {
  kRunBudget,
  kBudget,
  kArenaLimit,
  kSpills,
  kWriteRate,
  kFetchRate,
  kMostWritten,
  kMostWrittenADay,
  kLeastSpilled,
  kPart,
  kStates,
  kWeights,
  kRecompute,
  kPaged,
  kPasses,
  kPieces,
  kMicroBatches,
  kTimePieces,
  kShards,
  kDebug,
  kPlannerWork,
  kGoodEnough,
  kThreads,
};
inline constexpr std::size_t kPlanFacts = 23;
using PlanFacts = std::array<std::int64_t, kPlanFacts>;

/// How one program was made to fit.
struct PlanRecord {
  std::uint64_t problem = 0;        // digest of what the schedule is of
  std::uint32_t passes = 0;         // bits
  std::uint32_t pieces = 0;         // as Passes::pieces
  std::uint32_t micro_batches = 0;  // as Passes::micro_batches
  std::uint32_t time_pieces = 0;    // as Passes::time_pieces
  Bytes limit = kUnlimited;         // of the arena
  Bytes arena = 0;
  std::int64_t price = 0;  // as of a Fitting
  std::int64_t extra = 0;
  std::int64_t bound = 0;
  /// The states and weights that are in a file between runs; 0 percent: none.
  Away away{};
  /// The spill file's rates, as they were counted on; none without such a file.
  std::optional<budget::Channel> channel{};
  /// None where each call runs once, and no value is spilled.
  std::optional<budget::Schedule> schedule{};
};

/// A plan in the bytes of a file.
struct PlanEntry {
  std::uint64_t program = 0;  // digest
  std::span<const std::byte> record{};
};

struct PlanTable {
  PlanFacts facts{};
  memory::Vector<PlanEntry> entries{};  // programs rise

  const PlanEntry* find(std::uint64_t program) const noexcept;
};

/// LIFETIME: the bytes outlive the table. A failure's message is the fact
/// alone: "its checksum is wrong". THROWS: OutOfMemory.
NEAP_API neap::Result<PlanTable> parse_plan_file(
    std::span<const std::byte> bytes);
NEAP_API neap::Result<PlanRecord> parse_plan_record(
    std::span<const std::byte> bytes);

/// REQUIRES: programs rise. THROWS: OutOfMemory.
NEAP_API memory::Vector<std::byte> plan_file_bytes(
    const PlanFacts& facts, std::span<const PlanEntry> entries);
NEAP_API memory::Vector<std::byte> plan_record_bytes(const PlanRecord& record);

}  // namespace neap::compiler
