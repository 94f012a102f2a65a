// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Text files that the commands write.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "neap/files/whole_file.hpp"

namespace neap::app {

/// Whole or not at all.
Result<void> write_text(files::Door& door, const std::string& path,
                        std::string_view text);
/// The same; to standard output where the path is "-".
Result<void> write_report(files::Door& door, const std::string& path,
                          std::string_view text);

}  // namespace neap::app
