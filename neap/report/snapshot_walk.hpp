// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How the exports go over a snapshot: blocks as calls go by, the largest ones,
// places in the arenas, and what is reserved at the peak in rows that add up.
// All memory comes from the current domain. Views are into the snapshot.
//
// REQUIRES everywhere: positions of texts, calls and blocks that are within
// their tables, and sums that fit 63 bits, as in every snapshot that is made or
// read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "neap/report/snapshot.hpp"

namespace neap::report {

inline bool is_live(const Snapshot::Block& block, std::uint32_t call) noexcept {
  return block.first <= call && call <= block.last;
}

/// When each call begins, and after them the end, in nanoseconds: after what
/// the calls before took in a profile, or a microsecond each without one.
memory::Vector<std::int64_t> call_starts(const Snapshot& s);

/// Positions of all blocks in the order of key(block), then of positions.
template <class Key>
memory::Vector<std::uint32_t> blocks_by(const Snapshot& s, const Key& key) {
  memory::Vector<std::uint32_t> order(s.blocks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto left = key(s.blocks[a]);
    const auto right = key(s.blocks[b]);
    return left != right ? left < right : a < b;
  });
  return order;
}

/// Positions of the `most` blocks with the largest size_of(block) among those
/// with which is_one(block), largest first, then in their order. Takes memory
/// for `most` alone.
template <class IsOne, class SizeOf>
memory::Vector<std::uint32_t> largest_of(const Snapshot& s, std::size_t most,
                                         const IsOne& is_one,
                                         const SizeOf& size_of) {
  memory::Vector<std::uint32_t> heap;  // the least of them on top
  heap.reserve(std::min(most, s.blocks.size()) + 1);
  const auto precedes = [&](std::uint32_t a, std::uint32_t b) {
    const auto left = size_of(s.blocks[a]);
    const auto right = size_of(s.blocks[b]);
    return left != right ? left > right : a < b;
  };
  for (std::uint32_t i = 0; i < s.blocks.size(); ++i) {
    if (!is_one(s.blocks[i])) {
      continue;
    }
    heap.push_back(i);
    std::push_heap(heap.begin(), heap.end(), precedes);
    if (heap.size() > most) {
      std::pop_heap(heap.begin(), heap.end(), precedes);
      heap.pop_back();
    }
  }
  std::sort_heap(heap.begin(), heap.end(), precedes);
  return heap;
}

/// The same among all blocks.
template <class SizeOf>
memory::Vector<std::uint32_t> largest_blocks(const Snapshot& s,
                                             std::size_t most,
                                             const SizeOf& size_of) {
  return largest_of(
      s, most, [](const auto& /*block*/) { return true; }, size_of);
}

/// The blocks that begin and that have ended as calls go by.
class BlockWalk {
 public:
  explicit BlockWalk(const Snapshot& s)
      : by_first_(blocks_by(s, [](const auto& b) { return b.first; })),
        by_last_(blocks_by(s, [](const auto& b) { return b.last; })),
        blocks_(s.blocks) {}

  /// Calls end(position) for each block that was last there before `call`, then
  /// begin(position) for each that it makes. REQUIRES: every call in turn.
  template <class End, class Begin>
  void advance(std::uint32_t call, const End& end, const Begin& begin) {
    for (; ended_ < by_last_.size() && blocks_[by_last_[ended_]].last < call;
         ++ended_) {
      end(by_last_[ended_]);
    }
    for (;
         begun_ < by_first_.size() && blocks_[by_first_[begun_]].first <= call;
         ++begun_) {
      begin(by_first_[begun_]);
    }
  }

 private:
  memory::Vector<std::uint32_t> by_first_;
  memory::Vector<std::uint32_t> by_last_;
  const memory::Vector<Snapshot::Block>& blocks_;
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
};

/// Blocks are split into series by category: those of the first categories that
/// blocks name, and a last one for the others where there are more than kMost.
/// No two have the same name.
struct Categories {
  static constexpr std::uint32_t kMost = 10;

  memory::Vector<std::string_view> names;
  memory::Vector<std::uint32_t> series;  // by TextId

  explicit Categories(const Snapshot& s);
  std::uint32_t of(const Snapshot::Block& block) const noexcept {
    return series[block.category];
  }
};

/// The arenas of all spaces, one above the other.
struct ArenaMap {
  std::array<Bytes, 256> base{};  // of each space
  Bytes end = 0;  // at least Sums::arena; larger where an arena has pages

  explicit ArenaMap(const Snapshot& s) noexcept;
  Bytes place_of(const Snapshot::Block& block) const noexcept {
    return base[block.space] + block.offset;
  }
};

enum class Part : std::uint8_t {
  kValues,  // blocks that live at the peak, without their rounding
  kRounding,
  kGaps,   // of the arena, between the blocks
  kStays,  // what is there before, during and after the step
  kProgram,
  kIdle,
  kOverhead,
  kUnlisted,  // sums of which the snapshot has no parts
};
std::string_view name_of(Part part) noexcept;

/// Memory at the peak; the bytes of all rows add up to Sums::reserved.
struct PeakRow {
  Part part = Part::kValues;
  std::string_view layer;     // of values and what stays
  std::string_view category;  // of values and what stays
  Bytes bytes = 0;
  std::int64_t count = 0;
};

/// One row of each part, layer and category, without those of no bytes. By
/// parts, then largest first.
memory::Vector<PeakRow> rows_at_peak(const Snapshot& s);

/// The layer of each stay: an owner of parameters, buffers or optimizer state
/// stands one step below its layer ("fc1.weight").
memory::Vector<std::string_view> layers_of_stays(const Snapshot& s);

/// "train.cpp:12 (step)" in its parts; without a number the file is all of it.
struct SourceLine {
  std::string_view file;
  std::int64_t number = 0;
};
SourceLine parse_line(std::string_view line) noexcept;

}  // namespace neap::report
