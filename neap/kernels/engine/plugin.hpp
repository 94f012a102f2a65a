// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Kernels from a shared object. A plug-in puts kernels of its own in front of
// the host's lists; where none of them accepts the operands, the built-in ones
// run as ever. A plug-in is outside the library's guarantees: it may allocate
// outside of the domain and its bits may vary with threads. kernel_set() names
// it, so that its results can be recognised.
//
// A plug-in is built from the same sources as the program. It exports one
// function:
//
//   extern "C" NEAP_API const neap::kernels::Plugin* neap_kernel_plugin()
//       noexcept;
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// Changes whenever Plugin, Kernel, Args, Strided or Executor do.
inline constexpr std::uint32_t kPluginAbi = 1;

/// The kernels that are put in front of one list.
struct PluginKernels {
  const char* list;  // the same as KernelList::name: "matmul"
  std::span<const Kernel> kernels;
};

struct Plugin {
  std::uint32_t abi;    // kPluginAbi; read before anything else
  const char* version;  // neap::version() of the sources it was built from
  const char* name;     // "onednn"
  std::span<const PluginKernels> lists;
};

using PluginFunction = const Plugin* (*)() noexcept;
inline constexpr const char* kPluginSymbol = "neap_kernel_plugin";

/// Loads a plug-in and puts its kernels in front, for good. `which` is a path
/// (with a slash in it), or a name such as "onednn": then neap_onednn.so is
/// looked for in the folder that NEAP_PLUGINS names, beside the object that
/// holds this library, and where an installation keeps plug-ins. A plug-in that
/// is loaded already is left unchanged. Failures, after which all is unchanged:
/// there is none (kNotFound), it is no plug-in (kCorrupt), it was built for
/// another version (kMismatch), more than four (kTooLarge). Not while kernels
/// run in other threads.
NEAP_API Result<void> load_plugin(const std::string& which);

/// The first kernel of the loaded plug-ins, or nullptr.
const Kernel* find_in_plugins(const KernelList& list, DType dtype,
                              const Args& args) noexcept;

}  // namespace neap::kernels
