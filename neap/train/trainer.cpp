// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/trainer.hpp"

#include <chrono>

#include "neap/autograd/backward.hpp"
#include "neap/base/raise.hpp"
#include "neap/optim/clip.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/train/measures.hpp"

namespace neap::train {

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
  rates_.reserve(static_cast<std::size_t>(optimizer.group_count()));
  loader_.start(0);
}

void Trainer::keep_rates() {
  rates_.resize(static_cast<std::size_t>(optimizer_.group_count()));
  for (std::size_t group = 0; group < rates_.size(); ++group) {
    rates_[group] = optimizer_.lr(static_cast<int>(group));
  }
}

void Trainer::restore_rates() {
  for (std::size_t group = 0; group < rates_.size(); ++group) {
    optimizer_.set_lr(static_cast<int>(group), rates_[group]);
  }
}

void Trainer::drop_gradients() noexcept {
  model_.zero_grad();
  optimizer_.zero_grad();  // it may have parameters that the model has not
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
  keep_rates();
  drop_gradients();
  try {
    const data::Batch& batch = fetch();
    report.samples = batch.size();
    update(batch, report, site);
  } catch (...) {
    tensor::generator().set_state(random_state);
    restore_rates();
    drop_gradients();
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
    const Tensor loss = loss_of(options_.loss, output, batch.target);
    report.loss = loss.item();
    report.accuracy = accuracy_of(output, batch.target);
    backward(loss, {}, site);
  }
  if (options_.clip_norm > 0.0) {
    report.gradient_norm =
        optim::clip_grad_norm(parameters_, options_.clip_norm, {}, site).item();
  }
  if (options_.learning_rate) {
    optimizer_.set_lr(options_.learning_rate(steps_done_));
  }
  report.learning_rate = optimizer_.lr();
  optimizer_.step({}, site);
  drop_gradients();
}

}  // namespace neap::train
