// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The version of the library that the program is linked with.
#pragma once

#include "neap/base/api.hpp"

namespace neap {

/// "0.1.0": major, minor and patch, as CMake's project() says them.
NEAP_API const char* version() noexcept;

}  // namespace neap
