// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled steps of pretrained models: the bits of eager ones for any number of
// threads, the peak that was said, no heap calls; and a run that is saved and
// resumed.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/models/pretrained.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/checkpoint.hpp"
#include "support/counting_malloc.hpp"

namespace neap::models {
namespace {

constexpr std::int64_t kVocab = 37;
constexpr std::int64_t kClasses = 5;  // of the images
constexpr const char* kFolders[] = {"llama3",     "mistral", "qwen2",
                                    "llama_yarn", "gpt2",    "bert_tokens",
                                    "bert_first", "vit"};

bool is_of_images(std::string_view folder) {
  return folder == "vit";
}

// A batch of tokens, or of images and their classes.
struct Batch {
  Tensor x;
  Tensor y;
};

Batch batch_for(std::string_view folder) {
  if (is_of_images(folder)) {
    return {rand({3, 2, 8, 8}), randint(0, kClasses, {3})};
  }
  return {randint(0, kVocab, {3, 8}), randint(0, kVocab, {3, 8})};
}

// A model of a folder in training.
struct Training {
  explicit Training(const std::string& name)
      : model(from_pretrained(NEAP_MODELS_GOLDEN "/" + name, {.dropout = 0.1})
                  .value()),
        optimizer(model->parameters(), {.lr = 1e-2}) {
    model->train();
  }

  // Token 0 is the padding of a Bert.
  Tensor scores_of(const Tensor& x) const {
    if (const auto* bert = dynamic_cast<const Bert*>(&*model)) {
      return bert->run({.tokens = x, .mask = ne(x, 0)});
    }
    return (*model)(x);
  }
  Tensor step(const Tensor& x, const Tensor& y) {
    const Tensor scores = scores_of(x);
    const Tensor loss =
        cross_entropy(reshape(scores, {-1, scores.size(-1)}), reshape(y, {-1}));
    backward(loss);
    optimizer.step({.release_gradients = true});
    return loss.detach();
  }
  std::vector<double> values() const {
    std::vector<double> all;
    for (const nn::Parameter& parameter : model->parameters()) {
      const auto some = parameter.tensor.to_vector();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  memory::Owned<nn::Layer> model;
  optim::AdamW optimizer;
};

class PretrainedStepTest : public ::testing::TestWithParam<const char*> {
 protected:
  ~PretrainedStepTest() override { threads::set_default_threads(1); }

  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
  Batch batch_ = batch_for(GetParam());
};

TEST_P(PretrainedStepTest, HasTheBitsOfAnEagerOneForAnyNumberOfThreads) {
  const auto train = [&](bool is_compiled, int threads) {
    threads::set_default_threads(threads);
    Generator generator(7);
    const UseGenerator use(generator);
    Training training(GetParam());
    auto compiled = compile(
        [&](const Tensor& x, const Tensor& y) { return training.step(x, y); });
    std::vector<double> losses;
    for (int i = 0; i < 4; ++i) {
      losses.push_back((is_compiled ? compiled(batch_.x, batch_.y)
                                    : training.step(batch_.x, batch_.y))
                           .item());
    }
    for (const double value : training.values()) {
      losses.push_back(value);
    }
    return losses;
  };
  const auto eager = train(false, 1);
  for (int threads = 1; threads <= 3; ++threads) {
    EXPECT_EQ(train(true, threads), eager) << threads;
  }
}

// Reads a model and trains it, in a domain of its own.
memory::Stats measure(const char* folder, bool is_rehearsal) {
  const auto domain = memory::Domain::create(
      {.host = memory::HostAllocator::kPooled, .is_rehearsal = is_rehearsal});
  const memory::UseDomain use(*domain);
  Generator generator(7);
  const UseGenerator use_generator(generator);
  const Batch batch = batch_for(folder);
  Training training(folder);
  auto step = compile(
      [&](const Tensor& x, const Tensor& y) { return training.step(x, y); });
  step.prepare({batch.x.spec(), batch.y.spec()});
  for (int i = 0; i < 3; ++i) {
    step(batch.x, batch.y);
  }
  return domain->stats();
}

TEST_P(PretrainedStepTest, ADryRunTellsThePeakToTheByte) {
  const memory::Stats told = measure(GetParam(), true);
  const memory::Stats measured = measure(GetParam(), false);
  EXPECT_EQ(told.peak, measured.peak);
  EXPECT_EQ(told.live_peak, measured.live_peak);
  EXPECT_EQ(told.allocations, measured.allocations);
}

TEST_P(PretrainedStepTest, AWarmStepCallsNoHeap) {
  if (!support::is_counting()) {
    GTEST_SKIP() << "a sanitizer counts here";
  }
  Training training(GetParam());
  auto compiled = compile(
      [&](const Tensor& x, const Tensor& y) { return training.step(x, y); });
  for (int i = 0; i < 3; ++i) {
    compiled(batch_.x, batch_.y);
  }
  const std::int64_t before = domain_->stats().allocations;
  support::reset_outside_calls();
  for (int i = 0; i < 5; ++i) {
    compiled(batch_.x, batch_.y);
  }
  EXPECT_EQ(support::outside_stats().heap_calls, 0);
  EXPECT_EQ(support::outside_stats().map_calls, 0);
  EXPECT_EQ(domain_->stats().allocations, before);
}

TEST_P(PretrainedStepTest, IsReadWholeOrNotAtAllWhateverFails) {
  const std::string folder = std::string(NEAP_MODELS_GOLDEN "/") + GetParam();
  const auto result = testing::sweep_allocation_failures(
      *domain_, [&] { from_pretrained(folder).value(); });
  EXPECT_GT(result.failures, 50);
  EXPECT_TRUE(result.ok()) << result.problems.front();
  const Bytes live = domain_->stats().live;
  std::int64_t failures = 0;
  for (std::int64_t n = 1;; ++n) {
    files::FaultDoor door(files::system_door(),
                          {.fail_at = n, .longest_read = 1000});
    const auto model = from_pretrained(folder, {.door = &door});
    if (n > door.operations()) {
      EXPECT_TRUE(model.has_value());
      break;
    }
    failures += model.has_value() ? 0 : 1;
    EXPECT_TRUE(model.has_value() || domain_->stats().live == live) << n;
  }
  EXPECT_GT(failures, 20);
}

TEST_P(PretrainedStepTest, GoesOnFromACheckpoint) {
  const files::TemporaryFolder folder;
  const std::string path = folder.at("run.safetensors");
  Training whole(GetParam());
  whole.step(batch_.x, batch_.y);
  const train::Checkpoint saved{.model = *whole.model,
                                .optimizer = whole.optimizer,
                                .generator = generator_};
  ASSERT_TRUE(saved.save(path).has_value());
  const auto draw = generator_.state();
  whole.step(batch_.x, batch_.y);
  Training resumed(GetParam());
  generator_.set_state({1, 1});
  train::Checkpoint loaded{.model = *resumed.model,
                           .optimizer = resumed.optimizer,
                           .generator = generator_};
  ASSERT_TRUE(loaded.load(path).has_value());
  EXPECT_EQ(generator_.state().draw, draw.draw);
  resumed.step(batch_.x, batch_.y);
  EXPECT_EQ(resumed.values(), whole.values());
}

INSTANTIATE_TEST_SUITE_P(Models, PretrainedStepTest,
                         ::testing::ValuesIn(kFolders),
                         [](const auto& at) { return at.param; });

}  // namespace
}  // namespace neap::models
