// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Row B6: graphs that join and part, in several threads at once.
#include <array>
#include <thread>

#include "support.hpp"

namespace neap::four_systems {
namespace {

template <class Body>
void in_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&body, i] { body(i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(FourSystemsTest, B6_GraphsJoinAndPartFreely) {
  const Tensor x = leaf({2});
  const Tensor y = leaf({3});
  const Tensor left = square(x);
  const Tensor right = square(y);
  const Tensor joined = left * right;
  const Tensor apart = exp(right);
  backward(joined, {.retain_graph = true});
  EXPECT_EQ(x.grad().item(), 36);
  EXPECT_EQ(y.grad().item(), 24);
  zero_grad(std::array{x, y});
  backward(apart);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_DOUBLE_EQ(y.grad().item(), std::exp(9.0) * 6);
}

TEST(FourSystemsTest, B6_ManyThreadsBuildAndDropGraphsOnOneLeaf) {
  const Tensor x = leaf({0.5});
  in_threads(4, [&](int) {
    for (int i = 0; i < 200; ++i) {
      const Tensor y = exp(tanh(x));
      const auto gradients = grad(y, {x});
      ASSERT_GT(gradients[0].item(), 0);
    }
  });
}

}  // namespace
}  // namespace neap::four_systems
