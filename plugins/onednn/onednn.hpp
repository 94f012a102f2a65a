// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the sources of the oneDNN plug-in.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "neap/kernels/engine/plugin.hpp"

namespace neap::kernels {

inline const dnnl::engine& onednn_engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

/// Primitives by shapes, strides and threads; emptied when it is full.
template <class Value>
class OnednnCache {
 public:
  using Key = std::vector<std::int64_t>;

  /// A copy of what make() made for the key. THROWS: what make() does.
  template <class Make>
  Value get(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    const auto found = made_.find(key);
    if (found != made_.end()) {
      return found->second;
    }
    if (made_.size() == kMost) {
      made_.clear();
    }
    return made_.emplace(key, make()).first->second;
  }

 private:
  static constexpr std::size_t kMost = 512;

  std::mutex mutex_;
  std::map<Key, Value> made_;
};

/// conv2d, conv_transpose2d without bias, conv2d_weight; f32.
extern const std::array<PluginKernels, 3> onednn_conv_lists;

}  // namespace neap::kernels
