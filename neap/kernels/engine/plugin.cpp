// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "neap/base/external.hpp"
#include "neap/base/shown.hpp"
#include "neap/base/version.hpp"

namespace neap::kernels {
namespace {

constexpr std::size_t kMostPlugins = 4;
constexpr std::size_t kMostName = 128;

struct Loaded {
  std::array<const Plugin*, kMostPlugins> plugins{};
  std::atomic<std::size_t> count{0};  // published after the entry
  // "neap+onednn", one text for each count: one handed out stays good.
  std::array<std::array<char, kMostName>, kMostPlugins + 1> names{{{"neap"}}};
  std::mutex mutex;  // of loading
};

Loaded& loaded() noexcept {
  static Loaded instance;
  return instance;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
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
  if (dladdr(reinterpret_cast<const void*>(&load_plugin), &info) != 0) {
    const std::string here = folder_of(info.dli_fname);
    paths.push_back(fmt::format("{}/{}", here, file));
    paths.push_back(fmt::format("{}/neap/{}", here, file));
    paths.push_back(fmt::format("{}/../{}/neap/{}", here, NEAP_LIBDIR, file));
  }
  return paths;
}

/// Opens the first that is there. A file that is there but cannot be opened is
/// not passed over.
Result<void*> open_first(const std::string& which) {
  std::string tried;
  for (const std::string& path : candidates(which)) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      return library;
    }
    const char* text = dlerror();
    const std::string why = text != nullptr ? text : "unknown";
    if (!why.starts_with(path) ||
        why.find("No such file") == std::string::npos) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("plug-in {}: {}", base::shown_path(which),
                                 base::shown_message(why)));
    }
    tried +=
        fmt::format("{}{}", tried.empty() ? "" : ", ", base::shown_path(path));
  }
  return failure(FailureKind::kNotFound,
                 fmt::format("plug-in {}: not found, looked for {}",
                             base::shown_path(which), tried));
}

/// The descriptor that the library exports, if it was built for this program.
Result<const Plugin*> plugin_of(void* library, const std::string& which) {
  const auto get =
      reinterpret_cast<PluginFunction>(dlsym(library, kPluginSymbol));
  const Plugin* plugin = get != nullptr ? get() : nullptr;
  if (plugin == nullptr) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("plug-in {}: is none, {} is missing in it",
                               base::shown_path(which), kPluginSymbol));
  }
  if (plugin->abi != kPluginAbi) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("plug-in {}: interface {}, expected {}",
                    base::shown_path(which), plugin->abi, kPluginAbi));
  }
  if (std::string_view(plugin->version) != version()) {
    return failure(FailureKind::kMismatch,
                   fmt::format("plug-in {}: built for version {}, this is {}",
                               base::shown_path(which),
                               base::shown(plugin->version), version()));
  }
  return plugin;
}

Result<void> add(const Plugin& plugin) {
  Loaded& all = loaded();
  const std::size_t count = all.count.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    if (all.plugins[i] == &plugin) {
      return {};
    }
  }
  const std::string name =
      fmt::format("{}+{}", all.names[count].data(), plugin.name);
  if (count == kMostPlugins || name.size() >= kMostName) {
    return failure(
        FailureKind::kTooLarge,
        fmt::format("plug-in {}: there are {} already", plugin.name, count));
  }
  all.plugins[count] = &plugin;
  std::memcpy(all.names[count + 1].data(), name.c_str(), name.size() + 1);
  all.count.store(count + 1, std::memory_order_release);
  return {};
}

}  // namespace

Result<void> load_plugin(const std::string& which) {
  const std::lock_guard lock(loaded().mutex);
  base::external_at_start();  // without the plug-in, which comes on top
  const Bytes modules = base::module_bytes();
  const Result<void*> library = open_first(which);
  if (!library) {
    return tl::unexpected<Failure>(library.error());
  }
  const Result<const Plugin*> plugin = plugin_of(*library, which);
  const Result<void> done =
      plugin ? add(**plugin) : tl::unexpected<Failure>(plugin.error());
  if (!done) {
    dlclose(*library);
  }
  base::add_external("plug-ins", base::module_bytes() - modules);
  return done;
}

const Kernel* find_in_plugins(const KernelList& list, DType dtype,
                              const Args& args) noexcept {
  const Loaded& all = loaded();
  const std::size_t count = all.count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    for (const PluginKernels& front : all.plugins[i]->lists) {
      if (std::string_view(front.list) != list.name) {
        continue;
      }
      for (const Kernel& kernel : front.kernels) {
        if (kernel.dtype == dtype &&
            (kernel.accepts == nullptr || kernel.accepts(args))) {
          return &kernel;
        }
      }
    }
  }
  return nullptr;
}

const char* kernel_set() noexcept {
  const Loaded& all = loaded();
  return all.names[all.count.load(std::memory_order_acquire)].data();
}

}  // namespace neap::kernels
