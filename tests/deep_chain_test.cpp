// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Nothing recurses over what the user sizes: a chain of ten million recorded
// ops is built, differentiated and dropped on a stack of 256 KiB. In a build
// for debugging, and under a sanitizer, it has a million.
#include <gtest/gtest.h>

#include <limits>

#include "neap/autograd/backward.hpp"
#include "neap/base/error.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/graph/dot.hpp"
#include "neap/graph/lifetime.hpp"
#include "neap/graph/print.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
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

TEST(DeepChainTest, IsReleasedOnASmallStack) {
  run_deep([](const Tensor& x) {
    const Bytes before = memory::domain().stats().live;
    const Tensor y = chain(x);
    graph::release(y);
    EXPECT_LT(memory::domain().stats().live - before, kKiB);
    EXPECT_EQ(y.item(), 1.0);
  });
}

// The graph on top of a value is freed, however deep, when it is consumed.
TEST(DeepChainTest, BecomesUnavailableOnASmallStack) {
  run_deep([](const Tensor& x) {
    const Tensor root = neg(x);
    const Tensor y = chain(root);
    const Bytes before = memory::domain().stats().live;
    backward(neg(root));
    EXPECT_LT(memory::domain().stats().live, before - kOps * Bytes{64});
    EXPECT_THROW(backward(y), GraphError);
  });
}

class Counter final : public graph::Observer {
 public:
  void freed(const graph::FreedNode& node) noexcept override {
    ++count;
    in_order = in_order && node.sequence < last;
    last = node.sequence;
  }
  std::int64_t count = 0;
  bool in_order = true;  // from the latest node to the earliest
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
};

TEST(DeepChainTest, IsTellingAnObserverOfEachNodeOnce) {
  run_deep([](const Tensor& x) {
    Counter counter;
    const graph::UseObserver use(counter);
    backward(chain(x));
    EXPECT_EQ(counter.count, kOps);
    EXPECT_TRUE(counter.in_order);
  });
}

TEST(DeepChainTest, IsMeasuredAndPrintedOnASmallStack) {
  run_deep([](const Tensor& x) {
    constexpr int kFew = 1'000'000;
    const Tensor y = chain(x, kFew);
    EXPECT_EQ(graph::measure(y).nodes, kFew);
    EXPECT_EQ(graph::inspect(y).inputs.size(), 1U);
    EXPECT_LT(graph::print(y).size(), 64U * 1024);
    EXPECT_LT(graph::to_dot(y).size(), 256U * 1024);
  });
}

}  // namespace
}  // namespace neap::tests
