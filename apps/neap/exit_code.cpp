// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "exit_code.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "neap/base/shown.hpp"

namespace neap::app {

ExitCode fail(ExitCode code, std::string_view message) {
  fmt::print(stderr, "neap: {}\n", base::shown_message(message));
  return code;
}

}  // namespace neap::app
