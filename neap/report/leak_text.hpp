// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The lines under a row of the ledger: what it stands for, and who holds that.
#pragma once

#include <algorithm>
#include <string>

#include "neap/report/leaks.hpp"

namespace neap::report {

/// True for a row of headers or nodes, when `rows` has one of values that was
/// asked for in the same line: that one needs to be explained alone.
template <class Rows, class Row>
bool is_of_value(const Rows& rows, const Row& row) noexcept {
  return row.tag.category == memory::Category::kGraph &&
         std::any_of(rows.begin(), rows.end(), [&](const Row& other) {
           return other.tag.site == row.tag.site &&
                  other.tag.owner == row.tag.owner &&
                  other.tag.category != memory::Category::kGraph;
         });
}

class LeakText {
 public:
  /// `holders` outlives this.
  LeakText(const Holders& holders, const LeakOptions& options);

  /// Makes what is known of one domain ready to be found by tag, but for what
  /// `baseline` (nullptr: nothing) knew already.
  void index(const memory::Domain& domain, const Baseline* baseline);
  /// Up to `blocks` values counted under `tag`, or, where they are not values,
  /// parts of the graph; empty when none is known.
  std::string explain(const memory::Tag& tag, std::int64_t blocks) const;
  /// A value or part of the graph, with its chain.
  std::string explain(const Holders::Held& held) const;

 private:
  struct Known {
    memory::Tag tag;
    Holders::Held held;
  };
  const Holders* holders_;
  LeakOptions options_;
  memory::Vector<Known> known_;  // ordered by tag
};

}  // namespace neap::report
