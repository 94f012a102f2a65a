// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trainer: one training step after another over a loader's epochs: batch,
// forward, loss, backward, update. Gradients live only from a step's backward
// to its update, activations only to its backward: gradients are undefined
// before and after a step, and those that are there when one begins are given
// back first.
//
// A step is strong: when anything in it throws, parameters, optimizer, learning
// rates and random state are as before it, no gradient is left, and the next
// call repeats it on the same batch.
#pragma once

#include <cstdint>
#include <functional>

#include "neap/autograd/parameter.hpp"
#include "neap/data/loader.hpp"
#include "neap/nn/layer.hpp"
#include "neap/optim/optimizer.hpp"

namespace neap::train {

/// What is known after a step.
struct StepReport {
  std::int64_t step = 0;     // done so far, this one included
  std::int64_t steps = 0;    // of the whole run; 0 where that is not known
  std::int64_t epoch = 0;    // from 1
  std::int64_t epochs = 0;   // as steps
  std::int64_t samples = 0;  // in this step
  double loss = 0.0;         // mean over this step's samples
  double accuracy = 0.0;     // of this step's samples, in [0, 1]; 0 where the
                             // target is not labels
  double learning_rate = 0.0;
  double gradient_norm = 0.0;  // before clipping; 0 without it
  double seconds = 0.0;        // from fetching the batch to the update's end
};

/// loss(output, target): rank 0.
using Loss = std::function<Tensor(const Tensor&, const Tensor&)>;
/// The learning rate of a step, counted from 0.
using LearningRate = std::function<double(std::int64_t)>;

struct TrainerOptions {
  double clip_norm = 0.0;        // > 0: largest norm of all gradients together
  LearningRate learning_rate{};  // of all groups; empty: the optimizer's own
  Loss loss{};                   // empty: cross_entropy
};

/// LIFETIME: model, optimizer and loader outlive it.
class NEAP_API Trainer {
 public:
  /// Starts the loader's first epoch. THROWS: ValueError for a data set
  /// without a batch; OutOfMemory.
  Trainer(nn::Layer& model, optim::Optimizer& optimizer, data::Loader& loader,
          TrainerOptions options = {});

  /// THROWS: whatever a layer, the loss or the door throws.
  StepReport step(CallSite site = CallSite::here());

  std::int64_t steps_done() const noexcept { return steps_done_; }

 private:
  const data::Batch& fetch();
  void keep_rates();
  void restore_rates();
  void drop_gradients() noexcept;
  void update(const data::Batch& batch, StepReport& report,
              const CallSite& site);

  nn::Layer& model_;
  optim::Optimizer& optimizer_;
  data::Loader& loader_;
  TrainerOptions options_;
  ParameterList parameters_;            // for clipping
  memory::Vector<double> rates_;        // of each group, before the step
  const data::Batch* batch_ = nullptr;  // fetched, its step not yet done
  std::int64_t steps_done_ = 0;
  std::int64_t epoch_ = 0;
};

}  // namespace neap::train
