// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Call: one call of a program, with all that is known of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "neap/graph/trace.hpp"

namespace neap::compiler {

/// A part of one of the program's pools.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

enum class CallKind : std::uint8_t {
  kKernel,    // an op or a write
  kTransfer,  // a copy between memory spaces
  kCheck,     // a host read of values, which may throw
  kFused,     // several kernels as one, a tile at a time
  kSpill,     // begins to write its input to the spill file
  kFetch,     // begins to read its output from there
  kAwait,     // its input is whole, and may be read or written over, after it
  kExchange,  // what the ranks have of its output becomes one (ranks.hpp)
};

struct Call {
  CallKind kind = CallKind::kKernel;
  std::string_view name;          // LIFETIME: of the op, or a literal
  const graph::Op* op = nullptr;  // counted; nullptr: a write, a check, fused
  const kernels::KernelList* kernels = nullptr;
  void (*look)(const char*, std::span<const tensor::Strided>,
               const graph::Attrs&) = nullptr;  // of a check
  Range inputs;                                 // of Program::operands
  Range outputs;               // of Program::operands; each sets its value
  bool reads_outputs = false;  // and reads what was there (updates)
  std::uint32_t attrs = 0;     // offset in the pool of attributes
  std::uint32_t attrs_size = 0;
  graph::RunListener* listener = nullptr;  // gives the attributes of each run
  std::uint32_t listener_index = 0;
  std::int32_t draw_at = -1;  // offset of the draw in the attributes
  base::SiteId site{};
  memory::OwnerId owner{};                                     // the layer
  memory::Category category = memory::Category::kActivations;  // of the context
  memory::SpaceId space = memory::kHost;
  std::uint8_t stream = 0;
  /// Calls of different segments are never one: a rematerialised segment runs
  /// again on purpose.
  std::uint32_t segment = 0;
  Bytes scratch = 0;  // once bound; lives for this call alone
  Range members;      // of Program::members, for kFused; no attributes then
  std::uint32_t slot = 0;  // of Program::slots or, from kFirstAway, of away
  friend bool operator==(const Call&, const Call&) = default;
};

/// The segment of a call that a schedule runs once more.
inline constexpr std::uint32_t kScheduledAgain = ~0U;

/// True for a call that computes what an earlier one has computed, to save the
/// memory in between.
inline bool is_again(const Call& call) noexcept {
  return call.segment != 0;
}

/// True for a call that moves a value to the spill file or back, or waits.
inline bool is_move(const Call& call) noexcept {
  return call.kind == CallKind::kSpill || call.kind == CallKind::kFetch ||
         call.kind == CallKind::kAwait;
}

/// Slots from here on are of Program::away: states that live on a file between
/// runs.
inline constexpr std::uint32_t kFirstAway = 1U << 31U;

/// True for a move of such a state.
inline bool moves_state(const Call& call) noexcept {
  return is_move(call) && call.slot >= kFirstAway;
}

/// Offsets in a spill file, and sizes of what is written there, are multiples
/// of it: what a disk takes without a copy by the system.
inline constexpr Bytes kSpillUnit = 4 * kKiB;

}  // namespace neap::compiler
