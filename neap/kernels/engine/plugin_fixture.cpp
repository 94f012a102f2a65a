// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Plug-ins that must be refused, for plugin_test.cpp.
#include "neap/kernels/engine/plugin.hpp"

extern "C" NEAP_API const neap::kernels::Plugin* neap_kernel_plugin() noexcept {
  static const neap::kernels::Plugin plugin{.abi = NEAP_FIXTURE_ABI,
                                            .version = "0.0.0",
                                            .name = "fixture",
                                            .lists = {}};
  return &plugin;
}
