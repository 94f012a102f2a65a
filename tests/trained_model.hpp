// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TrainedModel: any model of the models room, small, in the hands of a Trainer,
// eagerly or compiled, as a program of a user's would have it: dropout, AdamW,
// a warm-up, clipping, and epochs whose last batch is a smaller one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "compile/training.hpp"
#include "neap/data/loader.hpp"
#include "neap/nn/layer.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/optim/schedule.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/train/state_hash.hpp"
#include "neap/train/trainer.hpp"
#include "support/made_up_samples.hpp"

namespace neap::tests {

struct TrainedModelOptions {
  Kind kind = Kind::kMlp;
  bool is_compiled = false;
  int prefetch = 0;
  int threads = 1;
};

/// LIFETIME: it may not move.
class TrainedModel {
 public:
  static constexpr std::int64_t kBatch = 7;
  static constexpr std::int64_t kSamples = 24;
  static constexpr int kEpoch = 4;  // batches

  TrainedModel(memory::Domain& domain, const TrainedModelOptions& options)
      : domain_(domain),
        use_(domain),
        pool_(options.threads),
        executor_([this](tensor::Execution& c) { c.executor = &pool_; }),
        generator_(7),
        use_generator_(generator_),
        subject_(make_subject(options.kind)),
        layer_(dynamic_cast<nn::Layer&>(subject_->module())),
        data_(sample_of(*subject_), kSamples, subject_->classes()),
        optimizer_(layer_.parameters(), {.weight_decay = 1e-2}),
        loader_(data_, {.batch = kBatch,
                        .shuffle = true,
                        .seed = 3,
                        .prefetch = options.prefetch}),
        trainer_(layer_, optimizer_, loader_, trainer_options(options)) {}

  double step() { return trainer_.step().loss; }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      step();
    }
  }
  /// Hash of everything that a step changes.
  std::uint64_t hash() const {
    return train::state_hash(layer_, optimizer_, generator_);
  }
  train::Trainer& trainer() { return trainer_; }
  const train::Trainer& trainer() const { return trainer_; }
  const nn::Layer& layer() const { return layer_; }
  memory::Domain& domain() const { return domain_; }

 private:
  static data::SampleSpec sample_of(const Subject& subject) {
    const auto specs = subject.specs(1);
    const auto one = [](const tensor::Spec& spec) {
      Shape shape = spec.shape;
      shape.erase(0);
      return shape;
    };
    return {one(specs[0]), specs[0].dtype, one(specs[1]), specs[1].dtype};
  }
  // Cross entropy of scores for each sample or pixel, or for each token.
  static Tensor loss_of(const Tensor& output, const Tensor& target) {
    return output.rank() == 3
               ? cross_entropy(reshape(output, {-1, output.size(2)}),
                               reshape(target, {-1}))
               : cross_entropy(output, target);
  }
  static train::TrainerOptions trainer_options(
      const TrainedModelOptions& options) {
    train::TrainerOptions out;
    out.clip_norm = 0.5;
    out.learning_rate = optim::warm_up(1e-2, 4);
    out.loss = loss_of;
    out.compile = options.is_compiled;
    return out;
  }

  memory::Domain& domain_;
  UseDomain use_;
  threads::Pool pool_;
  tensor::ExecutionGuard executor_;
  Generator generator_;
  UseGenerator use_generator_;
  std::unique_ptr<Subject> subject_;
  nn::Layer& layer_;
  MadeUpSamples data_;
  optim::AdamW optimizer_;
  data::Loader loader_;
  train::Trainer trainer_;
};

/// For tests over all models, eager and compiled.
using ModelAndMode = std::tuple<Kind, bool>;

inline auto all_models() {
  return ::testing::Combine(::testing::ValuesIn(kEveryModel),
                            ::testing::Bool());
}

inline std::string model_and_mode(
    const ::testing::TestParamInfo<ModelAndMode>& info) {
  const auto [kind, is_compiled] = info.param;
  return std::string(name_of(kind)) + (is_compiled ? "Compiled" : "Eager");
}

}  // namespace neap::tests
