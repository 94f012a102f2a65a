// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neap network: measures the network between two ranks, for neap plan.
#pragma once

#include <string>

#include "exit_code.hpp"

namespace neap::app {

struct NetworkSettings {
  std::string out;  // a path; empty: nothing is written
};

ExitCode run_network(const NetworkSettings& settings);

}  // namespace neap::app
