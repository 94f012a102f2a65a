// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/evaluator.hpp"

#include <array>
#include <limits>
#include <utility>

#include "neap/compile/compile.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/train/batches.hpp"
#include "neap/train/measures.hpp"
#include "neap/train/mode_guard.hpp"

namespace neap::train {
namespace {

// The output where it is looked at, and the loss.
using Measured = std::pair<Tensor, Tensor>;

struct Measure {
  nn::Layer* model;
  const Loss* loss;
  CallSite site;

  Measured operator()(const Tensor& input, const Tensor& target) const {
    const Tensor output = (*model)(input, site);
    const Tensor value = loss_of(*loss, output, target);
    return {is_classification(output, target) ? output : value, value};
  }
};

template <class Step>
Evaluation pass(Step& measure, data::Loader& loader) {
  Evaluation result;
  loader.start(0);
  while (const data::Batch* batch = loader.next()) {
    const Measured measured = measure(batch->input, batch->target);
    const Tensor& output = measured.first;
    const Tensor& loss = measured.second;
    const auto samples = static_cast<double>(batch->size());
    result.loss += number_of(loss) * samples;
    result.accuracy += accuracy_of(output, batch->target) * samples;
    result.samples += batch->size();
  }
  if (result.samples == 0) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {.loss = kNone, .accuracy = kNone, .samples = 0};
  }
  result.loss /= static_cast<double>(result.samples);
  result.accuracy /= static_cast<double>(result.samples);
  return result;
}

}  // namespace

struct Evaluator::Planned {
  Planned(const Measure& measure, const CompileOptions& options,
          const CallSite& site)
      : step(neap::compile(measure, options, site)) {}

  decltype(neap::compile(std::declval<Measure>())) step;
};

Evaluator::Evaluator(nn::Layer& model, data::Loader& loader,
                     EvaluateOptions options, CallSite site)
    : model_(model), loader_(loader), options_(std::move(options)) {
  if (options_.compile && loader.batches_per_epoch() > 0) {
    planned_ = memory::make_owned<Planned>(
        memory::Category::kGraph, Measure{&model_, &options_.loss, site},
        options_for(loader, options_.compile_options), site);
  }
}

Evaluator::~Evaluator() = default;

void Evaluator::prepare(CallSite /*site*/) {
  if (!planned_) {
    return;
  }
  const ModeGuard mode(model_, false);
  const NoGrad no_grad;
  loader_.start(0);
  const data::Batch& batch = *loader_.next();
  planned_->step.prepare(std::array{batch.input.spec(), batch.target.spec()});
}

Evaluation Evaluator::run(CallSite site) {
  const ModeGuard mode(model_, false);
  const NoGrad no_grad;
  if (planned_) {
    return pass(planned_->step, loader_);
  }
  const Measure measure{&model_, &options_.loss, site};
  return pass(measure, loader_);
}

Evaluation evaluate(nn::Layer& model, data::Loader& loader,
                    const EvaluateOptions& options, CallSite site) {
  return Evaluator(model, loader, options, site).run(site);
}

}  // namespace neap::train
