// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The entry of a shared object that has an engine. It is built against a
// cluster's own MPI; the library links none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neap/dist/engine.hpp"

namespace neap::dist {

inline constexpr std::uint32_t kEngineAbi = 1;
inline constexpr const char* kEngineSymbol = "neap_dist_engine";

struct EnginePlugin {
  std::uint32_t abi = kEngineAbi;
  const char* version = "";  // of Neap
  /// Joins the processes that the launcher started. An engine is made once in a
  /// process. THROWS: DistError.
  Engine* (*create)() = nullptr;
  void (*destroy)(Engine* engine) noexcept = nullptr;
};
using EnginePluginFunction = const EnginePlugin* (*)();

/// The engine of a plug-in: of a path, or of a name ("mpi": neap_mpi.so in
/// $NEAP_PLUGINS, beside the library, or in its lib/neap). THROWS: DistError
/// where it is not there, or was built for another version.
NEAP_API std::shared_ptr<Engine> load_engine(const std::string& which);

}  // namespace neap::dist
