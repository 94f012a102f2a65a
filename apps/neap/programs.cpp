// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "neap/base/shown.hpp"

namespace neap::app {
namespace {

bool is_program(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> find_mpirun(const std::string& given) {
  constexpr const char* kWays =
      "./dev setup mpi installs Open MPI (Debian: openmpi-bin), and --mpirun "
      "names another one";
  if (!given.empty()) {
    return is_program(given)
               ? Result<std::string>(given)
               : failure(FailureKind::kMismatch,
                         fmt::format("--mpirun: {} is no program; {}",
                                     base::shown_path(given), kWays));
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    std::string found = fmt::format("{}/mpirun", rest.substr(0, colon));
    if (colon > 0 && is_program(found)) {
      return found;
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return failure(FailureKind::kMismatch,
                 fmt::format("launch: there is no mpirun in PATH; {}", kWays));
}

Result<std::string> own_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size =
      ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (size <= 0) {
    return failure(FailureKind::kMismatch,
                   "launch: /proc/self/exe does not say where neap is");
  }
  return std::string(path.data(), static_cast<std::size_t>(size));
}

}  // namespace neap::app
