// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The training of the tests of compiled steps: a classifier with dropout, Adam,
// clipping and a schedule, eagerly or compiled, in a domain of its own.
#pragma once

#include <optional>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/models/mlp.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/clip.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::tests {

struct CompiledRunOptions {
  std::vector<std::int64_t> widths = {24, 40, 20, 4};
  std::int64_t batch = 16;
  int threads = 1;
  memory::Domain* domain = nullptr;  // nullptr: one of its own
};

/// A model in training. LIFETIME: it may not move.
class CompiledRun {
 public:
  explicit CompiledRun(const CompiledRunOptions& options = {})
      : options_(options),
        own_(options.domain == nullptr ? Domain::create() : nullptr),
        use_(own_ ? *own_ : *options.domain),
        pool_(options.threads),
        executor_([this](tensor::Execution& c) { c.executor = &pool_; }),
        generator_(7),
        use_generator_(generator_),
        model_(options.widths, {.dropout = 0.25}),
        optimizer_(model_.parameters(), {.lr = 1e-2, .weight_decay = 1e-3}) {}

  /// The step as a user writes it.
  Tensor plain(const Tensor& x, const Tensor& labels) {
    Tensor loss = cross_entropy(model_(x), labels);
    backward(loss);
    optim::clip_grad_norm(model_.parameters(), 1.0);
    optimizer_.step();
    optimizer_.zero_grad();
    return loss;
  }
  auto compile(const CompileOptions& options = {}) {
    return neap::compile(
        [this](const Tensor& x, const Tensor& labels) {
          return plain(x, labels);
        },
        options);
  }
  /// The batch of step `i`.
  std::pair<Tensor, Tensor> batch(std::uint64_t i,
                                  std::int64_t size = 0) const {
    Generator generator(1000 + i);
    const UseGenerator use(generator);
    const std::int64_t n = size > 0 ? size : options_.batch;
    return {randn({n, options_.widths.front()}),
            randint(0, options_.widths.back(), {n})};
  }
  std::uint64_t hash() const {
    return train::state_hash(model_, optimizer_, generator_);
  }
  models::Mlp& model() { return model_; }
  optim::Adam& optimizer() { return optimizer_; }
  memory::Domain& domain() { return memory::domain(); }

 private:
  CompiledRunOptions options_;
  Domain::Handle own_;
  UseDomain use_;
  threads::Pool pool_;
  tensor::ExecutionGuard executor_;
  Generator generator_;
  UseGenerator use_generator_;
  models::Mlp model_;
  optim::Adam optimizer_;
};

}  // namespace neap::tests
