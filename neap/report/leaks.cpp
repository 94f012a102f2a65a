// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/leaks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/report/ledger_rows.hpp"

namespace neap::report {

Baseline::Baseline(const memory::Domain& domain)
    : domain_(&domain), rows_(rows_of(domain, Instant::kNow)) {}

memory::Vector<Baseline::Leak> Baseline::leaks() const {
  const memory::UseDomain use(report_domain());
  memory::Vector<Leak> out;
  for (const memory::Row& now : rows_of(*domain_, Instant::kNow)) {
    const auto before = std::find_if(
        rows_.begin(), rows_.end(),
        [&](const memory::Row& row) { return row.tag == now.tag; });
    const bool is_new = before == rows_.end();
    const Leak leak{now.tag, now.bytes - (is_new ? 0 : before->bytes),
                    now.blocks - (is_new ? 0 : before->blocks)};
    if (leak.bytes > 0 || leak.blocks > 0) {
      out.push_back(leak);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Leak& a, const Leak& b) {
    return a.bytes > b.bytes;
  });
  return out;
}

std::string Baseline::format() const {
  std::string out;
  for (const Leak& leak : leaks()) {
    fmt::format_to(std::back_inserter(out),
                   "leak: {} B in {} block{} of {}, owner '{}', made at {}\n",
                   format_grouped(leak.bytes), leak.blocks,
                   leak.blocks == 1 ? "" : "s", name_of(leak.tag.category),
                   domain_->path_of(leak.tag.owner),
                   base::format_site(leak.tag.site));
  }
  return out;
}

}  // namespace neap::report
