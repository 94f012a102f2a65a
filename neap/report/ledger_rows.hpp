// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the reports: their own domain, and a whole copy of a ledger.
#pragma once

#include <tuple>

#include "neap/memory/containers.hpp"
#include "neap/report/memory_table.hpp"

namespace neap::report {

/// A domain for reports alone, so that looking at another changes nothing. It
/// keeps no idle page: what a report took goes back with it, but for some KiB
/// of bookkeeping and one slab. Never destroyed: a report may outlive main.
NEAP_API memory::Domain& report_domain();

/// An order of tags.
inline auto key_of(const memory::Tag& tag) noexcept {
  return std::tuple(tag.site, tag.owner, tag.category, tag.space);
}

memory::Vector<memory::Row> rows_of(const memory::Domain& domain,
                                    Instant instant);

}  // namespace neap::report
