// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// check(): the one harness for an op. Every row of a table is checked for
//
//   value        against the reference, in every dtype
//   vjp, jvp     against central differences in f64, on random directions; in
//                f32 against f64; <jvp u, w> = <u, vjp w>; one input at a time
//                and all at once
//   second       the derivative of the vjp, by its inputs and its cotangent;
//                that of the jvp; both modes nested in every order
//   third        three levels of both modes, in several orders
//   layouts      contiguous, transposed, with gaps, stride 0, mixed: same bits
//   threads      1, 2, 3: same bits
//   donation     same bits, and the memory is taken over where the facts say
//   spaces       same bits in a second memory space
//   facts        the residuals kept are those declared, and none is idle
//   zero size    shapes without elements
//   faults       the n-th allocation fails, for every n
//   errors       the declared type and message, and nothing changed
//
// Each runs in a domain of its own and must end with the bytes it began with.
// Nothing here depends on a test framework; gtest.hpp adapts one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "neap/testing/op_table.hpp"

namespace neap::testing {

struct Report {
  std::vector<std::string> failures;           // one line each
  std::map<std::string, std::int64_t> checks;  // how many were made, by kind

  bool ok() const noexcept { return failures.empty(); }
  /// All failures and counts, for a person to read.
  NEAP_API std::string text() const;
};

/// Checks all rows. A failure never ends the run: it is a line of the report.
/// THROWS: ValueError for a table that makes no sense (a row without function,
/// reference or inputs); OutOfMemory outside the checks.
NEAP_API Report check(const OpTable& table);

}  // namespace neap::testing
