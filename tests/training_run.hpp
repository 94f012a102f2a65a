// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training of the tests that cross rooms: a small classifier with dropout
// on made-up data, in a domain of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "neap/base/philox.hpp"
#include "neap/data/loader.hpp"
#include "neap/models/mlp.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/state_hash.hpp"
#include "neap/train/trainer.hpp"

namespace neap::tests {

/// Samples of `width` numbers; the label says which quarter is the largest.
class MadeUpData {
 public:
  MadeUpData(std::int64_t size, std::int64_t width)
      : size_(size), width_(width) {}
  std::int64_t size() const { return size_; }
  data::SampleSpec spec() const { return {{width_}, f32, {}, i64}; }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const base::DrawKey key{11, static_cast<std::uint64_t>(index)};
    std::array<float, 4> sums{};
    auto* out = reinterpret_cast<float*>(input.data());
    for (std::int64_t i = 0; i < width_; ++i) {
      out[i] =
          base::uniform_f32(key.word(static_cast<std::uint64_t>(i))) - 0.5F;
      sums[static_cast<std::size_t>(i * 4 / width_)] += out[i];
    }
    const std::int64_t label =
        std::max_element(sums.begin(), sums.end()) - sums.begin();
    std::memcpy(target.data(), &label, sizeof(label));
  }

 private:
  std::int64_t size_;
  std::int64_t width_;
};

struct RunOptions {
  std::int64_t width = 32;
  std::vector<std::int64_t> hidden = {48, 24};
  std::int64_t batch = 16;
  std::int64_t samples = 72;  // the last batch of an epoch is a smaller one
  double dropout = 0.25;
  std::uint64_t seed = 7;
  int threads = 1;
};

/// A model in training, stepped by hand.
class TrainingRun {
 public:
  explicit TrainingRun(memory::Domain& domain, const RunOptions& options = {})
      : use_(domain),
        pool_(options.threads),
        executor_([this](tensor::Execution& c) { c.executor = &pool_; }),
        generator_(options.seed),
        use_generator_(generator_),
        data_(options.samples, options.width),
        model_(widths(options), {.dropout = options.dropout}),
        optimizer_(model_.parameters(), {.lr = 1e-2, .weight_decay = 1e-3}),
        loader_(
            data_,
            {.batch = options.batch, .shuffle = true, .seed = options.seed}),
        trainer_(model_, optimizer_, loader_, {.clip_norm = 1.0}) {}

  double step() { return trainer_.step().loss; }

  std::uint64_t hash() const {
    return train::state_hash(model_, optimizer_, generator_);
  }
  models::Mlp& model() { return model_; }
  Generator& generator() { return generator_; }
  optim::Adam& optimizer() { return optimizer_; }

 private:
  static std::vector<std::int64_t> widths(const RunOptions& options) {
    std::vector<std::int64_t> widths = {options.width};
    widths.insert(widths.end(), options.hidden.begin(), options.hidden.end());
    widths.push_back(4);
    return widths;
  }

  UseDomain use_;
  threads::Pool pool_;
  tensor::ExecutionGuard executor_;
  Generator generator_;
  UseGenerator use_generator_;
  MadeUpData data_;
  models::Mlp model_;
  optim::Adam optimizer_;
  data::Loader loader_;
  train::Trainer trainer_;
};

}  // namespace neap::tests
