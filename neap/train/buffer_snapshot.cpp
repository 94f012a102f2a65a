// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/buffer_snapshot.hpp"

#include "neap/graph/versions.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/tensor/create.hpp"

namespace neap::train {
namespace {

std::uint32_t version_of(const Tensor& tensor) {
  return graph::version_of(*tensor.array()->storage());
}

}  // namespace

BufferSnapshot::BufferSnapshot(const nn::Module& model) {
  const ParameterList buffers = model.buffers();
  const memory::OutsideScopes apart;
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kBuffers; });
  kept_.reserve(buffers.size());
  for (const Parameter& buffer : buffers) {
    const Tensor& tensor = buffer.tensor;
    kept_.push_back(
        {.buffer = tensor, .copy = empty(tensor.shape(), tensor.dtype())});
  }
}

void BufferSnapshot::keep() {
  for (Kept& kept : kept_) {
    const std::uint32_t version = version_of(kept.buffer);
    if (!kept.is_copied || kept.version != version) {
      copy_(kept.copy, kept.buffer);
      kept.version = version;
      kept.is_copied = true;
    }
  }
}

// A copy between tensors of one shape and space asks for nothing.
void BufferSnapshot::restore() noexcept {
  for (Kept& kept : kept_) {
    if (kept.is_copied && version_of(kept.buffer) != kept.version) {
      copy_(kept.buffer, kept.copy);
      kept.version = version_of(kept.buffer);
    }
  }
}

}  // namespace neap::train
