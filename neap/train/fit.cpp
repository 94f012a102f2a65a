// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/fit.hpp"

#include <chrono>

#include "neap/autograd/backward.hpp"
#include "neap/ops/argmax.hpp"
#include "neap/ops/cross_entropy.hpp"
#include "neap/optim/clip.hpp"

namespace neap::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How many rows of `logits` have their largest element at the label.
std::int64_t count_correct(const Tensor& logits, const Tensor& labels) {
  const NoGrad guard;
  const Tensor best = argmax(logits, -1);
  const auto guess = best.values<std::int64_t>();
  const auto truth = labels.values<std::int64_t>();
  std::int64_t correct = 0;
  for (std::size_t i = 0; i < guess.size(); ++i) {
    correct += guess[i] == truth[i] ? 1 : 0;
  }
  return correct;
}

bool is_classification(const Tensor& logits, const Tensor& target) {
  return logits.rank() == 2 && target.rank() == 1 && target.dtype() == i64;
}

// Puts a module's training flag back.
class ModeGuard {
 public:
  ModeGuard(nn::Module& module, bool training)
      : module_(module), outer_(module.is_training()) {
    module_.train(training);
  }
  ~ModeGuard() { module_.train(outer_); }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  nn::Module& module_;
  bool outer_;
};

// One run: what stays the same over its steps.
class Run {
 public:
  Run(nn::Layer& model, optim::Optimizer& optimizer, data::Loader& loader,
      const FitOptions& options, const CallSite& site)
      : model_(model),
        optimizer_(optimizer),
        loader_(loader),
        options_(options),
        site_(site) {
    const std::int64_t each = loader.batches_per_epoch();
    steps_ = options.steps > 0 ? options.steps : options.epochs * each;
    epochs_ = each == 0 ? 0 : (steps_ + each - 1) / each;
  }

  FitResult go() {
    const ModeGuard mode(model_, true);
    FitResult result;
    const Clock::time_point start = Clock::now();
    for (std::int64_t epoch = 0; epoch < epochs_; ++epoch) {
      loader_.start(epoch);
      while (result.steps < steps_ && !result.is_stopped) {
        StepReport report{.step = result.steps + 1,
                          .steps = steps_,
                          .epoch = epoch + 1,
                          .epochs = epochs_};
        if (!step(report)) {
          break;
        }
        ++result.steps;
        result.last_loss = report.loss;
        result.is_stopped = options_.on_step != nullptr &&
                            options_.on_step(report) == Next::kStop;
      }
      if (result.is_stopped) {
        break;
      }
    }
    result.seconds = seconds_since(start);
    return result;
  }

 private:
  // False at the end of the epoch.
  bool step(StepReport& report) {
    const Clock::time_point start = Clock::now();
    const data::Batch* batch = loader_.next();
    if (batch == nullptr) {
      return false;
    }
    report.samples = batch->size();
    compute_gradients(*batch, report);
    if (options_.clip_norm > 0.0) {
      report.gradient_norm =
          optim::clip_grad_norm(optimizer_.parameters(), options_.clip_norm);
    }
    if (options_.schedule) {
      optimizer_.set_lr(options_.schedule(report.step - 1));
    }
    report.learning_rate = optimizer_.lr();
    optimizer_.step(site_);
    optimizer_.zero_grad();
    report.seconds = seconds_since(start);
    return true;
  }

  void compute_gradients(const data::Batch& batch, StepReport& report) {
    const Tensor logits = model_(batch.input, site_);
    Tensor loss = options_.loss ? options_.loss(logits, batch.target)
                                : cross_entropy(logits, batch.target);
    report.loss = loss.item();
    if (is_classification(logits, batch.target)) {
      report.accuracy =
          static_cast<double>(count_correct(logits, batch.target)) /
          static_cast<double>(report.samples);
    }
    backward(loss, {}, site_);
  }

  nn::Layer& model_;
  optim::Optimizer& optimizer_;
  data::Loader& loader_;
  const FitOptions& options_;
  CallSite site_;
  std::int64_t steps_ = 0;
  std::int64_t epochs_ = 0;
};

}  // namespace

FitResult fit(nn::Layer& model, optim::Optimizer& optimizer,
              data::Loader& loader, const FitOptions& options, CallSite site) {
  return Run(model, optimizer, loader, options, site).go();
}

Evaluation evaluate(nn::Layer& model, data::Loader& loader, CallSite site) {
  const ModeGuard mode(model, false);
  const NoGrad no_grad;
  Evaluation result;
  double loss = 0.0;
  std::int64_t correct = 0;
  loader.start(0);
  while (const data::Batch* batch = loader.next()) {
    const Tensor logits = model(batch->input, site);
    const auto samples = static_cast<double>(batch->size());
    loss += cross_entropy(logits, batch->target).item() * samples;
    correct += count_correct(logits, batch->target);
    result.samples += batch->size();
  }
  if (result.samples > 0) {
    result.loss = loss / static_cast<double>(result.samples);
    result.accuracy =
        static_cast<double>(correct) / static_cast<double>(result.samples);
  }
  return result;
}

}  // namespace neap::train
