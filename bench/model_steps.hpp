// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training steps that are measured: a model, its optimizer and one batch,
// written as a user writes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neap/neap.hpp"

namespace neap::bench {

/// A model to train, and all that a step of it needs.
struct Training {
  std::shared_ptr<nn::Module> model;
  std::unique_ptr<optim::Optimizer> optimizer;
  int copies = 1;  // of the parameters' bytes: their own, the optimizer's
  std::function<Tensor(const Tensor& x, const Tensor& y)> loss;
  Tensor x;
  Tensor y;
};

/// A function that makes a Training.
using MakeTraining = std::function<Training()>;

/// `optimizer`: "sgd" or "adam".
MakeTraining mlp_training(std::int64_t batch,
                          const std::string& optimizer = "adam");
MakeTraining cnn_training(std::int64_t batch);     // with SGD
MakeTraining resnet_training(std::int64_t batch);  // SGD with momentum
MakeTraining gpt_training(const models::GptOptions& options,
                          std::int64_t batch);
MakeTraining lstm_training(const models::LstmOptions& options,
                           std::int64_t steps, std::int64_t batch);
/// The same network, one cell a step of time, so that a program has calls of
/// each.
MakeTraining lstm_cells_training(const models::LstmOptions& options,
                                 std::int64_t steps, std::int64_t batch);

/// Seconds.
struct StepParts {
  double forward = 0;
  double backward = 0;
  double update = 0;
};

/// A step.
struct StepCalls {
  double heap = 0;    // malloc and its like, of the whole process
  double faults = 0;  // fresh pages
};

class ModelStep {
 public:
  /// Runs it until it has all that it needs.
  ModelStep(const MakeTraining& make, bool is_compiled,
            const CompileOptions& how = {});
  ModelStep(const ModelStep&) = delete;
  ModelStep& operator=(const ModelStep&) = delete;

  void run() { run_(); }
  /// The most bytes live in a step above the model, the optimizer's state and
  /// the batch; what a compiled step holds (its arena, its bookkeeping) counts.
  Bytes peak() const noexcept { return peak_; }
  /// The arena of a compiled step.
  Bytes arena() const noexcept { return arena_; }

  // parts() and kept() run the step eagerly.

  StepParts parts(int count);
  /// Bytes that forward leaves for backward: the tape, and all that it keeps.
  Bytes kept();

  StepCalls calls(int count);

 private:
  Training training_;
  std::function<void()> run_;
  Bytes peak_ = 0;
  Bytes arena_ = 0;
};

struct ModelCase {
  std::string name;
  std::string peer;  // what the peer is asked for
  double flops = 0;  // of the products (and convolutions) of one step
  bool is_long = false;
  std::string keeps_more{};  // the same training that keeps more, if measured
  MakeTraining make;
};

std::vector<ModelCase> model_cases();

}  // namespace neap::bench
