// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "text_file.hpp"

#include <cstdio>

namespace neap::app {

Result<void> write_text(files::Door& door, const std::string& path,
                        std::string_view text) {
  return files::write_atomically(door, path, [&](files::File& file) {
    return files::write_all(file, std::as_bytes(std::span(text)));
  });
}

Result<void> write_report(files::Door& door, const std::string& path,
                          std::string_view text) {
  if (path != "-") {
    return write_text(door, path, text);
  }
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  return written == text.size() && std::fflush(stdout) == 0
             ? Result<void>()
             : failure(FailureKind::kIo,
                       "standard output: the report could not be written");
}

}  // namespace neap::app
