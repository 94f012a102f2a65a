// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/init.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neap/base/raise.hpp"
#include "neap/base/shown.hpp"
#include "neap/base/version.hpp"
#include "neap/dist/plugin.hpp"

namespace neap::dist {
namespace {

// 0: it is not a number of ranks.
int number_in(const char* name) noexcept {
  const char* text = std::getenv(name);
  const std::string_view value = text != nullptr ? text : "";
  int number = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() &&
                 number > 0
             ? number
             : 0;
}

// The paths at which a plug-in of this name is looked for, in order.
std::vector<std::string> candidates(const std::string& which) {
  if (which.find('/') != std::string::npos) {
    return {which};
  }
  const std::string file = fmt::format("neap_{}.so", which);
  std::vector<std::string> paths;
  const char* folder = std::getenv("NEAP_PLUGINS");
  if (folder != nullptr && *folder != '\0') {
    paths.push_back(fmt::format("{}/{}", folder, file));
  }
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_engine), &info) != 0) {
    const std::string self = info.dli_fname;
    const std::size_t slash = self.rfind('/');
    const std::string here =
        slash == std::string::npos ? "." : self.substr(0, slash);
    paths.push_back(fmt::format("{}/{}", here, file));
    paths.push_back(fmt::format("{}/neap/{}", here, file));
    paths.push_back(fmt::format("{}/../{}/neap/{}", here, NEAP_LIBDIR, file));
  }
  return paths;
}

void* open_first(const std::string& which) {
  std::string tried;
  for (const std::string& path : candidates(which)) {
    // MPI libraries open parts of their own, which look for their symbols.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library != nullptr) {
      return library;
    }
    const char* text = dlerror();
    const std::string why = text != nullptr ? text : "unknown";
    if (!why.starts_with(path) ||
        why.find("No such file") == std::string::npos) {
      base::raise<DistError>("dist: plug-in {}: {}", base::shown_path(which),
                             base::shown_message(why));
    }
    tried +=
        fmt::format("{}{}", tried.empty() ? "" : ", ", base::shown_path(path));
  }
  base::raise<DistError>(
      "dist: plug-in {} is not there, looked for {}; it is built where MPI is "
      "(./dev setup mpi), and $NEAP_PLUGINS may name its folder",
      base::shown_path(which), tried);
}

}  // namespace

std::shared_ptr<Engine> load_engine(const std::string& which) {
  void* library = open_first(which);
  const auto get =
      reinterpret_cast<EnginePluginFunction>(dlsym(library, kEngineSymbol));
  const EnginePlugin* plugin = get != nullptr ? get() : nullptr;
  if (plugin == nullptr || plugin->abi != kEngineAbi ||
      std::string_view(plugin->version) != version()) {
    base::raise<DistError>(
        "dist: plug-in {} is none of an engine, or of another version than {}",
        base::shown_path(which), version());
  }
  return {plugin->create(), plugin->destroy};
}

int launched_ranks() noexcept {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const int ranks = number_in(name); ranks != 0) {
      return ranks;
    }
  }
  // A shell of salloc has the number of tasks, too, but is none of them.
  if (std::getenv("SLURM_STEP_ID") != nullptr &&
      std::getenv("PMIX_RANK") != nullptr) {
    return std::max(number_in("SLURM_NTASKS"), 1);
  }
  return 1;
}

Group init(const GroupOptions& options) {
  static std::mutex mutex;
  static std::optional<Group> group;
  const std::lock_guard lock(mutex);
  if (!group) {
    const int ranks = launched_ranks();
    if (ranks == 1) {
      return group.emplace();
    }
    const std::shared_ptr<Engine> engine = load_engine("mpi");
    if (engine->ranks() != ranks) {
      base::raise<DistError>(
          "dist: the launcher started {} ranks, and the engine ({}) has {}: "
          "the "
          "plug-in was built for another MPI than the launcher's",
          ranks, engine->name(), engine->ranks());
    }
    group.emplace(engine, options);
  }
  return *group;
}

}  // namespace neap::dist
