// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Problems and plans as text, in the format of MiniMalloc's benchmark problems:
//
//   id,lower,upper,size          a head that names the columns, in any order
//   a,0,2,16                     half-open lifetimes, sizes in bytes
//   b,2,5,8
//
// Needed: lower, upper, size. Known: alignment, fixed, alias_of (the row, from
// 0), alias_at, offset; an empty cell there means a Buffer's default. Every
// other column is ignored. No cell is quoted.
#pragma once

#include <span>
#include <string_view>

#include "neap/base/result.hpp"
#include "neap/planner/problem.hpp"

namespace neap::planner {

struct CsvProblem {
  Problem problem;  // problem in the form that check() wants
  memory::Vector<std::int64_t> offsets;  // the column `offset`, or empty
};

/// A failure names the line, from 1. THROWS: OutOfMemory.
NEAP_API Result<CsvProblem> parse_csv(std::string_view text);

/// The same rows with the offsets in the column `offset`, which comes last
/// where `text` has none. REQUIRES: parse_csv(text) is good and has as many
/// buffers as there are offsets. THROWS: OutOfMemory.
NEAP_API memory::String add_offsets(std::string_view text,
                                    std::span<const std::int64_t> offsets);

/// A problem as text, with the columns that parse_csv reads. THROWS:
/// OutOfMemory.
NEAP_API memory::String to_csv(const Problem& problem);

}  // namespace neap::planner
