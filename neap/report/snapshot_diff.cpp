// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_diff.hpp"

#include <cstdlib>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_check.hpp"
#include "neap/report/snapshot_walk.hpp"

namespace neap::report {
namespace {

using Key = std::tuple<Part, std::string_view, std::string_view>;
using Pair = std::pair<Bytes, Bytes>;  // before, after
using Pairs = std::map<Key, Pair, std::less<>,
                       memory::Allocator<std::pair<const Key, Pair>>>;

}  // namespace

Diff diff(const Snapshot& a, const Snapshot& b) {
  expect_sound(a);
  expect_sound(b);
  const memory::UseDomain use(report_domain());
  Diff out;
  out.title_before = a.title;
  out.title_after = b.title;
  out.before = a.sums;
  out.after = b.sums;
  Pairs pairs;
  for (const PeakRow& row : rows_at_peak(a)) {
    pairs[{row.part, row.layer, row.category}].first = row.bytes;
  }
  for (const PeakRow& row : rows_at_peak(b)) {
    pairs[{row.part, row.layer, row.category}].second = row.bytes;
  }
  for (const auto& [key, pair] : pairs) {
    if (pair.first != pair.second) {
      const auto& [part, layer, category] = key;
      out.rows.push_back({memory::String(name_of(part)), memory::String(layer),
                          memory::String(category), pair.first, pair.second});
    }
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const Diff::Row& x, const Diff::Row& y) {
                     return std::abs(x.change()) > std::abs(y.change());
                   });
  return out;
}

}  // namespace neap::report
