// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/base/shown.hpp"
#include "neap/report/snapshot_columns.hpp"

namespace neap::report {
namespace {

constexpr std::int64_t kLargestWork = (std::int64_t{1} << 62) - 1;

// Numbers of a column are at least the first and below the second.
struct Range {
  std::int64_t least;
  std::int64_t end;
};

Range range_of(const Snapshot& s, Holds holds) {
  switch (holds) {
    case Holds::kText:
      return {0, static_cast<std::int64_t>(s.texts.size())};
    case Holds::kCall:
      return {0, static_cast<std::int64_t>(s.calls.size())};
    case Holds::kBlock:
      return {0, static_cast<std::int64_t>(s.blocks.size())};
    case Holds::kBlockOrNone:
      return {-1, static_cast<std::int64_t>(s.blocks.size())};
    case Holds::kPhase:
      return {0, 3};
    case Holds::kKind:
      return {0, 4};
    case Holds::kStepKind:
      return {-1, 3};
    case Holds::kSpace:
      return {0, 256};
    case Holds::kFlag:
    case Holds::kTruth:
      return {0, 2};
    case Holds::kNumberOrNone:
      return {-1, kLargestNumber + 1};
    case Holds::kNumber:
      break;
  }
  return {0, kLargestNumber + 1};
}

class Checking {
 public:
  explicit Checking(const Snapshot& s) : s_(s) {}

  Result<void> run() {
    if (s_.texts.empty() || !s_.texts[0].empty()) {
      refuse("texts: the first is not empty");
    }
    for (const auto* texts : {&s_.texts, &s_.refusals, &s_.leaks}) {
      if (texts->size() > kMostRows) {
        refuse(fmt::format("more than {} texts", kMostRows),
               FailureKind::kTooLarge);
      }
    }
    check_row("sums", s_.sums, 0);
    check_table("calls", s_.calls);
    check_table("blocks", s_.blocks);
    check_table("reads", s_.reads);
    check_table("stays", s_.stays);
    check_table("steps", s_.steps);
    if (status_) {
      check_blocks();
      check_sums();
      check_calls();
    }
    return std::move(status_);
  }

 private:
  void refuse(std::string fact, FailureKind kind = FailureKind::kCorrupt) {
    if (status_) {
      status_ = failure(kind, std::move(fact));
    }
  }

  template <class Row>
  void check_row(std::string_view table, const Row& row, std::size_t at) {
    for (const Column<Row>& column : Columns<Row>::kAll) {
      const Range range = range_of(s_, column.holds);
      const std::int64_t number = column.get(row);
      if (number < range.least || number >= range.end) {
        refuse(fmt::format("{}.{}: {} at {} is impossible", table, column.name,
                           number, at));
      }
    }
  }

  template <class Row>
  void check_table(std::string_view table, const memory::Vector<Row>& rows) {
    if (rows.size() > kMostRows) {
      refuse(fmt::format("{}: more than {} rows", table, kMostRows),
             FailureKind::kTooLarge);
    }
    for (std::size_t i = 0; i < rows.size() && status_; ++i) {
      check_row(table, rows[i], i);
    }
  }

  void check_blocks() {
    Bytes ends = 0;
    for (std::size_t i = 0; i < s_.blocks.size() && status_; ++i) {
      const Snapshot::Block& block = s_.blocks[i];
      const bool is_after =
          block.over == Snapshot::kNone ||
          (block.over < i && s_.blocks[block.over].first < block.first);
      if (block.first > block.last || block.used > block.bytes || !is_after ||
          (i != 0 && s_.blocks[i - 1].first > block.first)) {
        refuse(fmt::format("blocks: number {} makes no sense", i));
      }
      add(ends, block.offset);
      add(ends, block.bytes);
    }
    for (std::size_t i = 1; i < s_.reads.size() && status_; ++i) {
      if (s_.reads[i - 1].block > s_.reads[i].block) {
        refuse("reads: their blocks are not in order");
      }
    }
  }

  void check_sums() {
    Bytes stays = 0;
    for (const Snapshot::Stay& stay : s_.stays) {
      add(stays, stay.bytes);
    }
    const Snapshot::Sums& sums = s_.sums;
    Bytes parts = 0;
    for (const Bytes part : {sums.arena, sums.stays, sums.program, sums.idle,
                             sums.overhead, sums.external}) {
      add(parts, part);
    }
    if (sums.reserved != parts - sums.external) {
      refuse("sums.reserved: it is not the sum of its parts");
    }
    if (sums.lent > sums.arena) {
      refuse("sums.lent: more than the arena");
    }
    if (sums.peak_call >= s_.calls.size() && sums.peak_call != 0) {
      refuse("sums.peak_call: there is no such call");
    }
  }

  // A share is of limits that are there, and of a time. Tables and traces add
  // up what calls took and did: a large step's flops may be more than 2^53.
  void check_calls() {
    const bool has_limits =
        s_.sums.flops_a_second > 0 && s_.sums.bytes_a_second > 0;
    std::int64_t ns = 0;
    std::int64_t flops = 0;
    Bytes moved = 0;
    for (std::size_t i = 0; i < s_.calls.size() && status_; ++i) {
      const Snapshot::Call& call = s_.calls[i];
      if (call.share >= 0 && (!has_limits || call.ns <= 0)) {
        refuse(fmt::format("calls.share: that of call {} is of nothing", i));
      }
      add(ns, call.ns, "calls.ns: times", kLargestNumber);
      add(flops, call.flops, "calls.flops: numbers", kLargestWork);
      add(moved, call.moved, "calls.moved: sizes", kLargestWork);
    }
  }

  void add(Bytes& sum, Bytes more) { add(sum, more, "sizes", kLargestNumber); }

  // Both at most `most`, so that nothing overflows; -1 is none.
  void add(std::int64_t& sum, std::int64_t more, std::string_view what,
           std::int64_t most) {
    sum += std::max<std::int64_t>(more, 0);
    if (sum > most) {
      sum = 0;
      refuse(fmt::format("{} that add up to 2^{} or more", what,
                         most == kLargestNumber ? 53 : 62));
    }
  }

  const Snapshot& s_;
  Result<void> status_;
};

}  // namespace

Result<void> check_snapshot(const Snapshot& snapshot) {
  return Checking(snapshot).run();
}

Result<void> check_before(const std::string& path, const Snapshot& snapshot) {
  auto good = check_snapshot(snapshot);
  return good ? Result<void>{}
              : failure(good.error().kind, fmt::format("{}: not written: {}",
                                                       base::shown_path(path),
                                                       good.error().message));
}

void expect_sound(const Snapshot& snapshot) {
  if (const auto good = check_snapshot(snapshot); !good) {
    base::raise<ValueError>("report: the snapshot makes no sense: {}",
                            good.error().message);
  }
}

}  // namespace neap::report
