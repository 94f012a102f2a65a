// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training steps of the models room that are measured: a transformer and a
// recurrent network, each with its optimizer and one batch, written as a user
// writes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neap/neap.hpp"

namespace neap::bench {

/// What a step trains: a module, its optimizer, a loss and one batch.
struct Training {
  std::shared_ptr<nn::Module> model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::function<Tensor(const Tensor& x, const Tensor& y)> loss;
  Tensor x;
  Tensor y;
};

/// What makes one, with its batch.
std::function<Training()> gpt_training(const models::GptOptions& options,
                                       std::int64_t batch);
std::function<Training()> lstm_training(const models::LstmOptions& options,
                                        std::int64_t steps, std::int64_t batch);
std::function<Training()> mlp_training(std::int64_t batch);  // with Adam

class ModelStep {
 public:
  ModelStep(const std::function<Training()>& make, bool is_compiled);
  ModelStep(const ModelStep&) = delete;
  ModelStep& operator=(const ModelStep&) = delete;

  void run() { run_(); }
  /// The most bytes live in a step above the parameters, the optimizer's state
  /// and the batch.
  Bytes peak() const noexcept { return peak_; }

 private:
  Training training_;
  std::function<void()> run_;
  Bytes peak_ = 0;
};

struct ModelCase {
  std::string name;
  std::string peer;  // what the peer is asked for
  double flops = 0;  // of the matrix products of one step
  bool is_long = false;
  std::function<Training()> make;
};

std::vector<ModelCase> model_cases();

}  // namespace neap::bench
