// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The report of a training run that has ended, for people.
#pragma once

#include <string>

#include "summary.hpp"

namespace neap::app {

/// The text about the dtype in a line with the instruction set.
std::string shown_dtype(const std::string& dtype);

/// `table`: of the memory at the high-water mark of live bytes.
std::string run_text(const Summary& summary, const std::string& table);

}  // namespace neap::app
