// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A batch hardly smaller than the largest was refused under a budget: with all
// values kept its program is higher than the arena that the largest was fitted
// into, and it was not fitted itself.
#include <gtest/gtest.h>

#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/budget.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {
namespace {

constexpr std::int64_t kBatch = 4096;

// Held and external, as budgets bound them.
Bytes in_use() {
  const memory::Stats stats = memory::domain().stats();
  return stats.held + stats.external;
}

// A deep chain, of which much can be recomputed.
class Chain {
 public:
  Chain() {
    for (int i = 0; i < 12; ++i) {
      weights_.push_back(requires_grad_(randn({32, 32}) * 0.2));
    }
  }
  auto step() {
    return [this](const Tensor& x) {
      Tensor y = x;
      for (const Tensor& w : weights_) {
        y = tanh(matmul(y, w));
      }
      const Tensor loss = sum(square(y));
      backward(loss);
      const NoGrad no_grad;
      for (const Tensor& w : weights_) {
        copy_(w, w - w.grad() * 0.01);
        set_grad(w, Tensor());
      }
      return loss;
    };
  }

 private:
  std::vector<Tensor> weights_;
};

// The bytes that the step of the largest batch needs with all values kept.
Bytes needed(const Tensor& x) {
  Chain chain;
  memory::domain().trim();
  memory::domain().reset_peak();
  const Bytes before = in_use();
  auto step = compile(chain.step());
  step(x);
  const memory::Stats stats = memory::domain().stats();
  return stats.peak + stats.external - before;
}

TEST(SmallerBatchTest, FitsTheArenaOfTheLargest) {
  seed(1);
  const Tensor full = randn({kBatch, 32});
  const Tensor fewer = randn({kBatch - 1, 32});
  const Bytes all = needed(full);
  Chain chain;
  memory::domain().trim();
  memory::domain().reset_peak();
  const Bytes budget = in_use() + all * 6 / 10;
  const Bytes room = 4 * kMiB;  // bookkeeping of the other program
  auto step = compile(chain.step(), {.max_batch = kBatch,
                                     .budget = budget + room,
                                     .passes = {.micro_batches = 1}});
  {
    const Budget less(budget);
    step(full);
  }
  const Bytes arena = step.arena_bytes();
  step(fewer);
  EXPECT_GT(step.program().fitting.again, 0U);
  EXPECT_EQ(step.arena_bytes(), arena);
}

}  // namespace
}  // namespace neap
