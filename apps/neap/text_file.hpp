// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What the commands write into files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "neap/files/whole_file.hpp"

namespace neap::app {

/// Whole or not at all.
inline Result<void> write_text(files::Door& door, const std::string& path,
                               std::string_view text) {
  return files::write_atomically(door, path, [&](files::File& file) {
    return files::write_all(file, std::as_bytes(std::span(text)));
  });
}

}  // namespace neap::app
