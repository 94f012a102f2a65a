// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/trainer.hpp"

#include <chrono>

#include "neap/autograd/backward.hpp"
#include "neap/base/raise.hpp"
#include "neap/ops/argmax.hpp"
#include "neap/ops/cross_entropy.hpp"
#include "neap/optim/clip.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::train {

double accuracy(const Tensor& logits, const Tensor& labels) {
  const bool is_classification = logits.rank() == 2 && labels.rank() == 1 &&
                                 labels.dtype() == i64 && logits.size(0) > 0;
  if (!is_classification) {
    return 0.0;
  }
  const NoGrad guard;
  const Tensor best = argmax(logits, -1);
  const auto guess = best.values<std::int64_t>();
  const auto truth = labels.values<std::int64_t>();
  std::int64_t correct = 0;
  for (std::size_t i = 0; i < guess.size(); ++i) {
    correct += guess[i] == truth[i] ? 1 : 0;
  }
  return static_cast<double>(correct) / static_cast<double>(guess.size());
}

Trainer::Trainer(nn::Layer& model, optim::Optimizer& optimizer,
                 data::Loader& loader, TrainerOptions options)
    : model_(model),
      optimizer_(optimizer),
      loader_(loader),
      options_(std::move(options)) {
  if (loader.batches_per_epoch() == 0) {
    base::raise<ValueError>(
        "trainer: {} samples give no batch of {}; use a smaller batch",
        loader.samples(), loader.batch_size());
  }
  if (options_.clip_norm > 0.0) {
    parameters_ = model.parameters();
  }
  loader_.start(0);
}

const data::Batch& Trainer::fetch() {
  if (batch_ == nullptr) {
    batch_ = loader_.next();
  }
  if (batch_ == nullptr) {
    loader_.start(++epoch_);
    batch_ = loader_.next();
  }
  return *batch_;
}

StepReport Trainer::step(CallSite site) {
  const auto start = std::chrono::steady_clock::now();
  const base::DrawKey random_state = tensor::generator().state();
  StepReport report;
  try {
    const data::Batch& batch = fetch();
    report.samples = batch.size();
    update(batch, report, site);
  } catch (...) {
    tensor::generator().set_state(random_state);
    optimizer_.zero_grad();
    throw;
  }
  batch_ = nullptr;
  report.step = ++steps_done_;
  report.epoch = epoch_ + 1;
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return report;
}

void Trainer::update(const data::Batch& batch, StepReport& report,
                     const CallSite& site) {
  {
    const Tensor output = model_(batch.input, site);
    const Tensor loss = options_.loss ? options_.loss(output, batch.target)
                                      : cross_entropy(output, batch.target);
    report.loss = loss.item();
    report.accuracy = accuracy(output, batch.target);
    backward(loss, {}, site);
  }
  if (options_.clip_norm > 0.0) {
    report.gradient_norm =
        optim::clip_grad_norm(parameters_, options_.clip_norm, {}, site);
  }
  if (options_.learning_rate) {
    optimizer_.set_lr(options_.learning_rate(steps_done_));
  }
  report.learning_rate = optimizer_.lr();
  optimizer_.step({}, site);
  optimizer_.zero_grad();
}

}  // namespace neap::train
