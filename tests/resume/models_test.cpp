// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models of every kind, saved in the middle of a run and resumed: buffers that
// training writes, tied parameters, dropout, several optimizers' state. One row
// a model.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "neap/files/temporary_folder.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/lstm.hpp"
#include "neap/models/mlp.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/nn/conv.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/pool.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/save.hpp"
#include "neap/train/state_hash.hpp"
#include "support/made_up_samples.hpp"

namespace neap::tests {
namespace {

constexpr std::int64_t kClasses = 5;
constexpr std::int64_t kSamples = 22;

struct Row {
  const char* name;
  std::function<std::unique_ptr<nn::Layer>()> make;
  data::SampleSpec sample;
};

std::unique_ptr<nn::Layer> make_convolutions() {
  return std::make_unique<nn::Sequential>(
      nn::Conv2d(2, 4, 3, {.padding = 1}), nn::BatchNorm2d(4), nn::ReLU(),
      nn::MaxPool2d(MaxPoolOptions<2>{.kernel = 2}), nn::Dropout(0.2),
      nn::Flatten(), nn::Linear(4 * 3 * 3, kClasses));
}

std::unique_ptr<nn::Layer> make_gpt() {
  return std::make_unique<models::Gpt>(models::GptOptions{.vocab = kClasses,
                                                          .block = 6,
                                                          .layers = 2,
                                                          .heads = 2,
                                                          .dim = 8,
                                                          .dropout = 0.1});
}

std::vector<Row> rows() {
  return {{"mlp",
           [] {
             return std::make_unique<models::Mlp>(
                 std::vector<std::int64_t>{6, 8, kClasses},
                 models::MlpOptions{.dropout = 0.2});
           },
           {{6}, f32, {}, i64}},
          {"convolutions", make_convolutions, {{2, 6, 6}, f32, {}, i64}},
          {"gpt", make_gpt, {{6}, i64, {6}, i64}},
          {"lstm",
           [] {
             return std::make_unique<models::Lstm>(
                 models::LstmOptions{.features = 3,
                                     .hidden = 6,
                                     .layers = 2,
                                     .outputs = kClasses,
                                     .dropout = 0.1});
           },
           {{4, 3}, f32, {}, i64}}};
}

// Cross entropy of the scores for each sample, or for each token of it.
Tensor loss_of(const Tensor& output, const Tensor& target) {
  return cross_entropy(reshape(output, {-1, kClasses}), reshape(target, {-1}));
}

class SavedModelsTest : public ::testing::Test {
 protected:
  // A run of 8 steps (22 samples in batches of 8 are three an epoch) that is
  // made anew and stopped after `stop` of them. RETURNS: the hash of its end.
  std::uint64_t train(const Row& row, bool compile, std::int64_t stop,
                      bool resume) const {
    Generator generator(7);
    const UseGenerator use(generator);
    const MadeUpSamples data(row.sample, kSamples, kClasses);
    const auto model = row.make();
    optim::AdamW adam(model->parameters(), {.lr = 1e-2, .weight_decay = 0.1});
    data::Loader loader(data, {.batch = 8, .shuffle = true, .seed = 3});
    train::FitOptions options;
    options.steps = 8;
    options.resume = resume ? path() : "";
    options.save.path = stop < options.steps ? path() : "";
    options.trainer.compile = compile;
    options.trainer.loss = loss_of;
    options.on_step = [stop](const train::StepReport& report) {
      return report.step == stop ? train::Next::kStop : train::Next::kContinue;
    };
    const auto result = fit(*model, adam, loader, options);
    EXPECT_FALSE(result.resume_failure.has_value())
        << result.resume_failure->message;
    EXPECT_EQ(result.steps, stop);
    return train::state_hash(*model, adam, generator);
  }
  std::string path() const { return folder_.at("run.safetensors"); }

  files::TemporaryFolder folder_;
};

TEST_F(SavedModelsTest, AResumedRunHasTheBitsOfAWholeOne) {
  for (const Row& row : rows()) {
    const std::uint64_t whole = train(row, false, 8, false);
    for (const bool compile : {false, true}) {
      for (const std::int64_t stop : {2, 3, 7}) {
        train(row, compile, stop, false);
        EXPECT_EQ(train(row, compile, 8, true), whole)
            << row.name << " " << compile << " " << stop;
      }
    }
  }
}

TEST_F(SavedModelsTest, ALoadedModelAnswersAsTheSavedOne) {
  for (const Row& row : rows()) {
    train(row, false, 3, false);  // a checkpoint, to load the model from
    const MadeUpSamples data(row.sample, kSamples, kClasses);
    data::Loader loader(data, {.batch = kSamples});
    const auto answer = [&](std::uint64_t seed, const std::string& file) {
      Generator generator(seed);
      const UseGenerator use(generator);
      const auto model = row.make();
      model->eval();
      EXPECT_TRUE(neap::load(*model, file).has_value()) << row.name;
      EXPECT_TRUE(neap::save(*model, folder_.at("model")).has_value());
      const NoGrad no_grad;
      loader.start(0);
      return (*model)(loader.next()->input).to_vector();
    };
    const auto first = answer(1, path());
    EXPECT_EQ(answer(2, folder_.at("model")), first) << row.name;
  }
}

}  // namespace
}  // namespace neap::tests
