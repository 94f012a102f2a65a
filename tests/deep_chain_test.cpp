// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Nothing recurses over what the user sizes: a chain of ten million recorded
// ops is built, differentiated and dropped on a stack of 256 KiB. In a build
// for debugging, and under a sanitizer, it has a million.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/neg.hpp"
#include "neap/tensor/create.hpp"
#include "support/small_stack.hpp"

namespace neap::tests {
namespace {

#ifdef NDEBUG
constexpr int kOps = base::kAddressSanitizer ? 1'000'000 : 10'000'000;
#else
constexpr int kOps = 1'000'000;
#endif

Tensor chain(const Tensor& x, int ops = kOps) {
  Tensor y = x;
  for (int i = 0; i < ops; ++i) {
    y = neg(y);
  }
  return y;
}

// Calls body(x), and expects that all it took is given back.
template <class Body>
void run_deep(Body body) {
  const auto domain = Domain::create();
  on_small_stack([&] {
    const UseDomain use(*domain);
    body(requires_grad_(ones({1})));
  });
  EXPECT_EQ(domain->stats().live, 0);
}

TEST(DeepChainTest, IsDifferentiatedOnASmallStack) {
  run_deep([](const Tensor& x) {
    backward(chain(x));
    EXPECT_EQ(x.grad().item(), 1.0);
  });
}

TEST(DeepChainTest, IsDroppedOnASmallStack) {
  run_deep([](const Tensor& x) { chain(x); });
}

}  // namespace
}  // namespace neap::tests
