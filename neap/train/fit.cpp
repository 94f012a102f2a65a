// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/fit.hpp"

#include "neap/compile/compile.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/train/batches.hpp"
#include "neap/train/measures.hpp"

namespace neap::train {
namespace {

// Puts the training flags of a module and of all below back.
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
    module.train(is_training);
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

}  // namespace

FitResult fit(nn::Layer& model, optim::Optimizer& optimizer,
              data::Loader& loader, const FitOptions& options, CallSite site) {
  const ModeGuard mode(model, true);
  Trainer trainer(model, optimizer, loader, options.trainer);
  const std::int64_t each = loader.batches_per_epoch();
  const std::int64_t steps =
      options.steps > 0 ? options.steps : options.epochs * each;
  trainer.prepare(site);
  if (options.on_ready) {
    options.on_ready(trainer);
  }
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

namespace {

// The output where it is looked at, and the loss.
using Measured = std::pair<Tensor, Tensor>;

Measured measure(nn::Layer& model, const Loss& loss, const Tensor& input,
                 const Tensor& target, const CallSite& site) {
  const Tensor output = model(input, site);
  const Tensor value = loss_of(loss, output, target);
  return {is_classification(output, target) ? output : value, value};
}

template <class Measure>
Evaluation evaluate_by(Measure&& measure, data::Loader& loader) {
  Evaluation result;
  loader.start(0);
  while (const data::Batch* batch = loader.next()) {
    const auto [output, loss] = measure(batch->input, batch->target);
    const auto samples = static_cast<double>(batch->size());
    result.loss += number_of(loss) * samples;
    result.accuracy += accuracy_of(output, batch->target) * samples;
    result.samples += batch->size();
  }
  if (result.samples > 0) {
    result.loss /= static_cast<double>(result.samples);
    result.accuracy /= static_cast<double>(result.samples);
  }
  return result;
}

}  // namespace

Evaluation evaluate(nn::Layer& model, data::Loader& loader,
                    const EvaluateOptions& options, CallSite site) {
  const ModeGuard mode(model, false);
  const NoGrad no_grad;
  const auto measured = [&](const Tensor& input, const Tensor& target) {
    return measure(model, options.loss, input, target, site);
  };
  if (!options.compile || loader.batches_per_epoch() == 0) {
    return evaluate_by(measured, loader);
  }
  return evaluate_by(
      neap::compile(measured, options_for(loader, options.compile_options),
                    site),
      loader);
}

}  // namespace neap::train
