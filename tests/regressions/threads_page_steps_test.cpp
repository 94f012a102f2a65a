// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tests of what docs/threads.md says of compiled steps, as
// threads_page_test.cpp has them.
#include <gtest/gtest.h>

#include "neap/compile/compile.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"

namespace neap {
namespace {

TEST(ThreadsPageTest, AStepPlansAnewForAnotherNumberOfThreads) {
  const Tensor w = full({64, 64}, 0.5);
  auto step = compile([&](const Tensor& x) { return matmul(x, w); },
                      {.keep_all = true});
  const Tensor x = full({64, 64}, 0.25);
  const memory::Vector<double> expected = step(x).to_vector();
  for (const int count : {2, 1, 3}) {
    threads::Pool pool(count);
    const tensor::ExecutionGuard use(
        [&pool](tensor::Execution& c) { c.executor = &pool; });
    EXPECT_EQ(step(x).to_vector(), expected);
  }
}

}  // namespace
}  // namespace neap
