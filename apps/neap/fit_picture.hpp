// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The curve of `neap fit` as a picture.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neap/base/bytes.hpp"
#include "neap/compile/fit.hpp"

namespace neap::app {

struct FitRow {
  Bytes budget = 0;  // that suffices for the run
  compiler::FitPoint plan;
};

/// An SVG: budgets to the right, extra time upward, as a staircase; below it
/// the bound under which no plan can be. `asked`: a budget that is marked;
/// kUnlimited: none. REQUIRES: rows, their budgets falling.
std::string fit_picture(std::string_view title, const std::vector<FitRow>& rows,
                        Bytes asked);

}  // namespace neap::app
