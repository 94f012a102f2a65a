// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// OptimizerState: everything that an optimizer's steps have changed apart from
// the parameters, as a value whose tensors are the optimizer's own (handles, no
// copies). A checkpoint keeps it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "neap/memory/containers.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::optim {

struct OptimizerState {
  static constexpr std::size_t kMaxTensors = 2;

  struct Slot {
    std::int64_t steps = 0;  // updates of the parameter so far
    /// The number of state tensors that an update uses.
    std::size_t tensor_count = 0;
    /// All of them are defined once an update has used them, none before.
    std::array<Tensor, kMaxTensors> tensors{};

    bool is_used() const noexcept {
      return tensor_count > 0 && tensors[0].defined();
    }
  };

  std::int64_t step_count = 0;
  memory::Vector<double> rates{};  // learning rate of each group
  /// The names of a slot's tensors: "exp_avg", ...
  std::array<std::string_view, kMaxTensors> names{};
  /// Slots in the order of Optimizer::parameters().
  memory::Vector<Slot> slots{};
};

}  // namespace neap::optim
