// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Networks by name, or from a file that neap network wrote.
#pragma once

#include <string>
#include <string_view>

#include "neap/base/result.hpp"
#include "neap/dist/traffic.hpp"

namespace neap::files {
class Door;
}

namespace neap::app {

/// "1Gb", "10Gb", "25Gb", "100Gb" or "400Gb" (docs/processes.md says where
/// their figures are from), or else the path of a file. Failures: those of the
/// file; kCorrupt for another form, and for figures out of range.
Result<dist::Network> read_network(files::Door& door, const std::string& name);

/// A network as read_network() takes it. Whole nanoseconds, and bytes a second.
std::string to_json(const dist::Network& network, std::string_view engine);

}  // namespace neap::app
