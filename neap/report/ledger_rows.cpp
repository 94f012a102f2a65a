// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/ledger_rows.hpp"

namespace neap::report {
memory::Domain& report_domain() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static memory::Domain* const domain =
      memory::Domain::create({.name = "report", .idle_limit = 0}).release();
  return *domain;
}

memory::Vector<memory::Row> rows_of(const memory::Domain& domain,
                                    Instant instant) {
  const memory::UseDomain use(report_domain());
  memory::Vector<memory::Row> rows;
  for (;;) {  // the ledger may grow between two calls
    const int count = instant == Instant::kNow ? domain.live_rows(rows)
                                               : domain.peak_rows(rows);
    const bool is_whole = static_cast<std::size_t>(count) <= rows.size();
    rows.resize(static_cast<std::size_t>(count));
    if (is_whole) {
      return rows;
    }
  }
}

}  // namespace neap::report
