// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/fit.hpp"

#include "neap/graph/recorder.hpp"
#include "neap/ops/cross_entropy.hpp"

namespace neap::train {
namespace {

// Puts a module's training flag back.
class ModeGuard {
 public:
  ModeGuard(nn::Module& module, bool is_training)
      : module_(module), outer_(module.is_training()) {
    module_.train(is_training);
  }
  ~ModeGuard() { module_.train(outer_); }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  nn::Module& module_;
  bool outer_;
};

}  // namespace

FitResult fit(nn::Layer& model, optim::Optimizer& optimizer,
              data::Loader& loader, const FitOptions& options, CallSite site) {
  const ModeGuard mode(model, true);
  Trainer trainer(model, optimizer, loader, options.trainer);
  const std::int64_t each = loader.batches_per_epoch();
  const std::int64_t steps =
      options.steps > 0 ? options.steps : options.epochs * each;
  FitResult result;
  while (result.steps < steps && !result.is_stopped) {
    StepReport report = trainer.step(site);
    report.steps = steps;
    report.epochs = (steps + each - 1) / each;
    result.steps = report.step;
    result.seconds += report.seconds;
    result.last_loss = report.loss;
    result.is_stopped =
        options.on_step && options.on_step(report) == Next::kStop;
  }
  return result;
}

Evaluation evaluate(nn::Layer& model, data::Loader& loader, CallSite site) {
  const ModeGuard mode(model, false);
  const NoGrad no_grad;
  Evaluation result;
  loader.start(0);
  while (const data::Batch* batch = loader.next()) {
    const Tensor logits = model(batch->input, site);
    const auto samples = static_cast<double>(batch->size());
    result.loss += cross_entropy(logits, batch->target).item() * samples;
    result.accuracy += accuracy(logits, batch->target) * samples;
    result.samples += batch->size();
  }
  if (result.samples > 0) {
    result.loss /= static_cast<double>(result.samples);
    result.accuracy /= static_cast<double>(result.samples);
  }
  return result;
}

}  // namespace neap::train
