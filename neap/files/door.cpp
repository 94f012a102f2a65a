// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/door.hpp"

namespace neap::files {

Door::~Door() = default;

std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) {
    return ".";
  }
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

}  // namespace neap::files
