// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/init.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
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

// 0: nobody says.
int number_in(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    return 0;
  }
  const std::string_view value = text;
  int number = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() ||
      number < 1) {
    base::raise<DistError>("dist: {} is \"{}\", which is no number of ranks",
                           name, base::shown(value));
  }
  return number;
}

// The folder of the object that holds this function; empty: nobody knows.
std::string own_folder() {
  Dl_info info{};
  std::string self;
  if (dladdr(reinterpret_cast<const void*>(&load_engine), &info) != 0) {
    self = info.dli_fname;
  }
  if (!self.starts_with('/')) {  // a program, as it was called
    std::error_code error;
    self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  }
  return self.substr(0, std::min(self.rfind('/'), self.size()));
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
  if (const std::string here = own_folder(); !here.empty()) {
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

int launched_ranks() {
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
  static std::shared_ptr<Engine> engine;  // is made once in a process
  static std::optional<Group> group;
  static double deadline = 0.0;
  const std::lock_guard lock(mutex);
  options.check();
  if (group) {
    if (options.deadline != deadline) {
      base::raise<ValueError>(
          "dist: init() with a deadline of {} s, after one with {}",
          options.deadline, deadline);
    }
    return *group;
  }
  const int ranks = launched_ranks();
  if (ranks > 1 && engine == nullptr) {
    engine = load_engine("mpi");
  }
  if (engine != nullptr && engine->ranks() != ranks) {
    base::raise<DistError>(
        "dist: the environment says {} ranks, and the engine ({}) has {}: its "
        "plug-in is for another MPI than the launcher's, or no launcher has "
        "set the variable",
        ranks, engine->name(), engine->ranks());
  }
  deadline = options.deadline;
  return engine != nullptr ? group.emplace(engine, options) : group.emplace();
}

}  // namespace neap::dist
