// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Retraces: says when a compiled step is traced again, and why.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "neap/train/trainer.hpp"
#include "progress.hpp"

namespace neap::app {

class Retraces {
 public:
  Retraces() = default;
  explicit Retraces(const train::Trainer& trainer)
      : trainer_(trainer.is_compiled() ? &trainer : nullptr),
        traces_(trainer_ != nullptr ? trainer.traces() : 0) {}

  void tell(const train::StepReport& report, Progress& progress) {
    if (trainer_ == nullptr || trainer_->traces() == traces_) {
      return;
    }
    traces_ = trainer_->traces();
    progress.finish();
    const std::string line = fmt::format("traced again at step {}: {}\n",
                                         report.step, trainer_->why());
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
  }

 private:
  const train::Trainer* trainer_ = nullptr;
  std::int64_t traces_ = 0;
};

}  // namespace neap::app
