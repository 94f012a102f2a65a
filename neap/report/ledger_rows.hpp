// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What the reports share: their own domain, and a whole copy of a ledger.
#pragma once

#include "neap/memory/containers.hpp"
#include "neap/report/memory_table.hpp"

namespace neap::report {

/// A domain for reports alone, so that looking at another changes nothing.
/// Never destroyed: a report may outlive main.
memory::Domain& report_domain();

memory::Vector<memory::Row> rows_of(const memory::Domain& domain,
                                    Instant instant);

}  // namespace neap::report
