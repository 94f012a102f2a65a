// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Growth: memory that grows from step to step of a loop that should be flat.
//
//   report::Growth growth;
//   for (...) {
//     train one step;
//     growth.step();
//   }
//   std::puts(growth.format().c_str());  // nothing, when nothing grows
//
// After some steps of warm-up, in which caches and state are created, each step
// is compared with the one before, row by row of the ledger (category, owner,
// call site). A row grows steadily when its bytes, or its blocks, have not
// shrunk since the warm-up, grew in every step or in three at least, and have
// not been constant for longer than they grew. So a leak in every hundredth
// step is found, and a cache that fills up once is not.
//
// Reports change nothing in the observed domain; a step costs a copy of the
// ledger's rows.
#pragma once

#include <algorithm>
#include <string>

#include "neap/memory/containers.hpp"

namespace neap::report {

class HandleNames;

struct GrowthOptions {
  std::int64_t warm_up = 3;  // steps that are not compared
  int max_rows = 16;         // rows of format(); the rest is summed
  int max_holders = 3;       // rows that chains are shown for
  /// The same as LeakOptions::names. LIFETIME: of the Growth.
  const HandleNames* names = nullptr;
};

class NEAP_API Growth {
 public:
  /// Steps to be compared before a report that nobody asked for at this program
  /// says what grows: what is taken once, and late, looks like growth in one.
  static constexpr std::int64_t kEnough = 3;

  /// `domain` outlives this.
  explicit Growth(const memory::Domain& domain = memory::domain(),
                  const GrowthOptions& options = {});

  /// Counts a step; called after every step, at the same point of the loop.
  /// THROWS: OutOfMemory (of the report's own domain); nothing is counted then.
  void step();

  struct Row {
    memory::Tag tag;
    Bytes bytes = 0;          // more than after the warm-up
    std::int64_t blocks = 0;  // blocks more than after the warm-up
    std::int64_t grown = 0;   // steps in which it grew
    std::int64_t last = 0;    // the latest of them, counted from 1
  };
  /// The rows that grow steadily, largest first.
  memory::Vector<Row> rows() const;
  bool has_grown() const { return !rows().empty(); }

  /// Steps counted, and those of them that were compared. A step that is traced
  /// is refused where it asks for these, or for rows.
  std::int64_t steps() const noexcept;
  std::int64_t compared() const noexcept;

  /// Tensors of the whole program, more than after the warm-up.
  std::int64_t tensors() const noexcept;

  /// Some aligned lines; empty when nothing grows:
  ///
  ///   growth: 640 B and 10 blocks in 10 steps after 3 of warm-up
  ///     bytes  blocks  steps  last  category  owner          made at
  ///       640      10     10    14  other     'fc1.weight'   a.cpp:12 (f)
  ///     10 tensors more in the whole program
  ///
  /// While handles are tracked (memory::TrackHandles), a tensor of each of the
  /// first rows follows, with the chain of who holds it, as in report_leaks.
  std::string format() const;

 private:
  // The course of one number, from step to step.
  struct Trend {
    std::int64_t first = 0;  // value after the warm-up
    std::int64_t now = 0;
    std::int64_t grown = 0;  // steps in which it grew
    std::int64_t last = 0;   // the latest of them
    bool has_shrunk = false;

    void add(std::int64_t value, std::int64_t step, bool is_first) noexcept;
    std::int64_t growth() const noexcept { return now - first; }
    bool is_steady(std::int64_t compared, std::int64_t step) const noexcept;
  };
  struct Seen {
    memory::Tag tag;
    Trend bytes;
    Trend blocks;
  };
  static bool precedes(const memory::Tag& a, const memory::Tag& b) noexcept;
  std::string format_holders(const memory::Vector<Row>& rows) const;
  memory::Vector<Seen> merge(const memory::Vector<memory::Row>& now) const;

  const memory::Domain* domain_;
  GrowthOptions options_;
  std::int64_t steps_ = 0;
  Trend tensors_;
  memory::Vector<Seen> seen_;  // ordered by tag
};

}  // namespace neap::report
