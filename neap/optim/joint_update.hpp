// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// JointUpdate: the updates of a step that run as one call. For sources of this
// room only.
#pragma once

#include "neap/kernels/optim/updates.hpp"
#include "neap/memory/containers.hpp"

namespace neap::optim {

class JointUpdate {
 public:
  /// Reserves capacity for so many updates. THROWS: OutOfMemory. Strong.
  void reserve(std::size_t count);

  /// Adds an update of tensors of the host. False where it must be launched on
  /// its own. REQUIRES: capacity.
  [[nodiscard]] bool add(const kernels::Kernel& kernel,
                         const kernels::Args& args) noexcept;

  /// Runs all that were added, and forgets them.
  void run(threads::Executor& executor) noexcept;
  void clear() noexcept;

 private:
  // Bytes that an update reads or writes.
  struct Range {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    bool is_written = false;
  };
  bool are_apart() noexcept;

  memory::Vector<kernels::UpdateMember> members_;  // members in the order added
  memory::Vector<Range> ranges_;  // ranges of gradients and parameters
};

}  // namespace neap::optim
