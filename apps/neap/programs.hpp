// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The places of the programs that a launch runs.
#pragma once

#include <string>

#include "neap/base/result.hpp"

namespace neap::app {

/// The path of Open MPI's mpirun: `given`, or where that is empty the first in
/// PATH. A failure says how to get one.
Result<std::string> find_mpirun(const std::string& given);

/// The path of this program.
Result<std::string> own_program();

}  // namespace neap::app
