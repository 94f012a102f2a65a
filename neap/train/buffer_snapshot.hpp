// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// BufferSnapshot: the buffers of a model as they were before a step. Layers
// write theirs in the forward (the running values of a batch norm), long before
// a step may fail; its values are then restored.
#pragma once

#include "neap/memory/containers.hpp"
#include "neap/nn/module.hpp"

namespace neap::train {

class BufferSnapshot {
 public:
  /// Allocates copies of all buffers that the model has. THROWS: OutOfMemory.
  explicit BufferSnapshot(const nn::Module& model);

  /// Copies those that were written since the last time.
  void keep();
  /// Restores those that were written since keep().
  void restore() noexcept;

 private:
  struct Kept {
    Tensor buffer{};
    Tensor copy{};
    std::uint32_t version = 0;  // version of the buffer when it was copied
    bool is_copied = false;
  };
  memory::Vector<Kept> kept_;
};

}  // namespace neap::train
