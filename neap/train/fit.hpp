// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training loop: batches, loss, backward, update, and a callback that sees
// each step and may stop the run. Gradients live only from a step's backward to
// its update, activations only to its backward.
#pragma once

#include <cstdint>
#include <functional>

#include "neap/data/loader.hpp"
#include "neap/nn/layer.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/optim/schedule.hpp"

namespace neap::train {

/// What a callback learns after each step.
struct StepReport {
  std::int64_t step = 0;   // from 1
  std::int64_t steps = 0;  // of the whole run
  std::int64_t epoch = 0;  // from 1
  std::int64_t epochs = 0;
  std::int64_t samples = 0;  // in this step
  double loss = 0.0;         // mean over this step's samples
  double accuracy = 0.0;     // of this step's samples, in [0, 1]
  double learning_rate = 0.0;
  double gradient_norm = 0.0;  // 0 unless clipping measures it
  double seconds = 0.0;        // from fetching the batch to the update's end
};

enum class Next { kContinue, kStop };
using OnStep = std::function<Next(const StepReport&)>;

/// loss(logits, target): rank 0.
using Loss = std::function<Tensor(const Tensor&, const Tensor&)>;

struct FitOptions {
  std::int64_t epochs = 1;
  std::int64_t steps = 0;    // > 0: this many steps instead of epochs
  double clip_norm = 0.0;    // > 0: largest global norm of the gradient
  optim::Schedule schedule;  // default: the optimizer's own rate throughout
  Loss loss;                 // default: cross_entropy
  OnStep on_step;            // default: none
};

struct FitResult {
  std::int64_t steps = 0;  // done
  double seconds = 0.0;
  double last_loss = 0.0;
  bool is_stopped = false;  // by the callback
};

/// Trains `model`. On a throw (OutOfMemory, whatever a layer or the callback
/// throws) the step that failed has changed no parameter.
NEAP_API FitResult fit(nn::Layer& model, optim::Optimizer& optimizer,
                       data::Loader& loader, const FitOptions& options,
                       CallSite site = CallSite::here());

struct Evaluation {
  double loss = 0.0;      // mean over samples
  double accuracy = 0.0;  // in [0, 1]
  std::int64_t samples = 0;
};

/// One pass without gradients, in evaluation mode; the model's mode is put
/// back. NaN losses show as NaN; an empty set gives zeros.
NEAP_API Evaluation evaluate(nn::Layer& model, data::Loader& loader,
                             CallSite site = CallSite::here());

}  // namespace neap::train
