// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ModeGuard: a module and all below it in training or in evaluation, for a
// while. Their flags are then put back. Where the module is in that mode
// already, parts of it that are not stay in theirs: a batch norm that was
// frozen by eval(), a dropout that also draws in evaluation.
#pragma once

#include "neap/nn/module.hpp"

namespace neap::train {

class ModeGuard {
 public:
  ModeGuard(nn::Module& module, bool is_training) {
    nn::Registry& top = module.registry();
    std::size_t count = 0;
    top.walk([&](const nn::Registry&) { ++count; });
    modes_.reserve(count);
    top.walk([&](nn::Registry& registry) {
      modes_.push_back(
          {base::Ref<nn::Registry>::share(&registry), registry.is_training()});
    });
    if (module.is_training() != is_training) {
      module.train(is_training);
    }
  }
  ~ModeGuard() {
    for (const Mode& mode : modes_) {
      mode.registry->set_training(mode.is_training);
    }
  }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  struct Mode {
    base::Ref<nn::Registry> registry;
    bool is_training;
  };
  memory::Vector<Mode> modes_;
};

}  // namespace neap::train
