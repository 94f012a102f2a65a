// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Kernels looked at memory that nobody had written, without effect on results:
// valgrind reported it. These are run under it (CMakeLists.txt), with the
// instructions that it knows.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/conv/max_pool2d.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

void run(const Tensor& y) {
  for (const double value : y.to_vector()) {
    EXPECT_EQ(value, value);  // valgrind sees what decides
  }
}

class UninitialisedMemoryTest : public testing::TestWithParam<DType> {};

TEST_P(UninitialisedMemoryTest, PaddedPoolingReadsWhatWasWritten) {
  for (const std::int64_t extent : {1, 3, 4, 5, 7, 9, 17}) {
    for (const std::int64_t kernel : {2, 3, 5}) {
      for (const std::int64_t stride : {1, 2, 3}) {
        if (extent + 2 * (kernel / 2) < kernel) {
          continue;
        }
        const MaxPoolOptions<2> options{
            .kernel = kernel, .stride = stride, .padding = kernel / 2};
        const Tensor x =
            requires_grad_(rand({1, 2, extent, extent}, GetParam()));
        run(max_pool2d(x.detach(), options));
        const Tensor y = max_pool2d(x, options);
        run(y);
        backward(sum(y));
        run(x.grad());
      }
    }
  }
}

TEST_P(UninitialisedMemoryTest, AttentionReadsWhatWasWritten) {
  for (const std::int64_t length : {1, 3, 5, 9, 17}) {
    for (const std::int64_t width : {1, 3, 8}) {
      for (const bool is_causal : {false, true}) {
        const Shape shape{1, 2, length, width};
        const Tensor q = requires_grad_(rand(shape, GetParam()));
        const Tensor k = requires_grad_(rand(shape, GetParam()));
        const Tensor v = requires_grad_(rand(shape, GetParam()));
        const Tensor y =
            scaled_dot_product_attention(q, k, v, {.is_causal = is_causal});
        run(y);
        backward(sum(y));
        run(q.grad());
        run(k.grad());
        run(v.grad());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, UninitialisedMemoryTest,
                         testing::Values(f32, f64));

}  // namespace
}  // namespace neap
