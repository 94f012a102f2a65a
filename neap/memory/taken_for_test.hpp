// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of arenas in pages: what the process has of the system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace neap::memory {

struct Taken {
  std::int64_t maps = 0;  // of arenas
  std::int64_t files = 0;
  friend bool operator==(const Taken&, const Taken&) = default;
};

/// Only a change of it means anything.
inline Taken taken_by_process() {
  std::ifstream maps("/proc/self/maps");
  const std::filesystem::directory_iterator files("/proc/self/fd");
  Taken taken;
  for (std::string line; std::getline(maps, line);) {
    taken.maps += line.find("neap arena") != std::string::npos ? 1 : 0;
  }
  taken.files = std::distance(begin(files), end(files));
  return taken;
}

}  // namespace neap::memory
