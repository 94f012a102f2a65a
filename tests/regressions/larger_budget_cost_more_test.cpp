// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A larger budget cost more time, or was refused: micro-batches that fit it but
// for the bookkeeping of their many calls were neither kept whole nor looked at
// any further, so that fewer of them ran hundreds of calls again. In small
// steps, whose bookkeeping is as large as their arena, the arena went down by
// as much as a request had lacked, past programs that would have fit.
#include <gtest/gtest.h>

#include <algorithm>

#include "neap/autograd/backward.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/compile/compile.hpp"
#include "neap/memory/budget.hpp"
#include "neap/models/gpt.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {
namespace {

using tensor::Spec;

struct Planned {
  Bytes in_use = 0;  // held and external
  Bytes arena = 0;
  double extra = 0;
};

Planned planned_within(Bytes budget, std::int64_t dim = 64,
                       std::int64_t batch = 32) {
  memory::trim();
  seed(1);
  models::Gpt model(
      {.vocab = 64, .block = 64, .layers = 2, .heads = 2, .dim = dim});
  optim::AdamW optimizer(model.parameters(), {});
  auto step = compile(
      [&](const Tensor& tokens, const Tensor& targets) {
        Tensor loss = model.loss(tokens, targets);
        backward(loss);
        optimizer.step();
        optimizer.zero_grad();
        return loss;
      },
      {.budget = budget});
  step.prepare({Spec{i64, {batch, 64}}, Spec{i64, {batch, 64}}});
  const compiler::Fitting& how = step.program().fitting;
  const memory::Stats stats = memory::domain().stats();
  return {.in_use = stats.held + stats.external,
          .arena = step.arena_bytes(),
          .extra = how.percent(how.extra)};
}

TEST(LargerBudgetTest, NeverCostsMore) {
  if (base::kAddressSanitizer) {
    GTEST_SKIP() << "blocks are held by the byte: the rooms are other ones";
  }
  constexpr Bytes kMuch = Bytes{1} << 40U;
  planned_within(kMuch);  // what the process takes once
  const Planned whole = planned_within(kMuch);
  ASSERT_EQ(whole.extra, 0.0);
  double least = 1e9;
  for (const Bytes part : {855, 840, 820, 790}) {
    const Bytes budget = whole.in_use - whole.arena * part / 1000;
    const Planned some = planned_within(budget);
    EXPECT_LE(some.in_use, budget) << part;
    EXPECT_LE(some.extra, least) << part;
    EXPECT_LT(some.extra, 50.0) << part;
    least = std::min(least, some.extra);
  }
}

// One budget after the other, falling: once one is refused, all below it are.
TEST(LargerBudgetTest, NeverCostsMoreInASmallStep) {
  if (base::kAddressSanitizer) {
    GTEST_SKIP() << "blocks are held by the byte: the rooms are other ones";
  }
  constexpr std::int64_t kDim = 32;
  constexpr std::int64_t kBatch = 8;
  constexpr Bytes kMuch = Bytes{1} << 40U;
  planned_within(kMuch, kDim, kBatch);  // what the process takes once
  const Planned whole = planned_within(kMuch, kDim, kBatch);
  double least = 0;
  bool is_refused = false;
  int met = 0;
  for (Bytes part = 30; part < 1000; part += 30) {
    const Bytes budget = whole.in_use - whole.arena * part / 1000;
    try {
      const Planned some = planned_within(budget, kDim, kBatch);
      EXPECT_FALSE(is_refused) << part;
      EXPECT_LE(some.in_use, budget) << part;
      EXPECT_GE(some.extra, least) << part;
      least = some.extra;
      ++met;
    } catch (const Error&) {
      is_refused = true;
    }
  }
  EXPECT_TRUE(is_refused);
  EXPECT_GT(met, 12);
}

}  // namespace
}  // namespace neap
