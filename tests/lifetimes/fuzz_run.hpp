// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Many random programs, one after the other, until one fails.
#pragma once

#include <string>

#include "trial.hpp"

namespace neap::lifetimes {

/// Runs programs with the seeds from `first` on. RETURNS: empty, or the first
/// program that fails, cut down, as a person reads it.
std::string run_fuzz(std::uint64_t first, std::int64_t count, Mix& mix);

}  // namespace neap::lifetimes
