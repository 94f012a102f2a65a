// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The machine that the figures were taken on.
#pragma once

#include <string>

#include "neap/base/bytes.hpp"

namespace neap::bench {

/// Processor, caches, memory and kernel, on one line.
const std::string& machine_line();

/// Bytes of one core's L2 and of the L3 cache; usual sizes where the system
/// does not say.
Bytes l2_bytes();
Bytes l3_bytes();

/// Runnable threads in the mean of the last minute: how quiet it is.
double load_average() noexcept;

}  // namespace neap::bench
