// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Nothing recurses over what the user sizes: a chain of a million recorded ops
// is built, differentiated and dropped on a stack of 256 KiB, and a loop
// without any backward keeps nothing.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/neg.hpp"
#include "neap/tensor/create.hpp"

namespace neap::tests {
namespace {

constexpr int kOps = 1'000'000;

// Runs `body` in a thread of 256 KiB of stack.
void on_small_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread{};
  const auto run = [](void* call) -> void* {
    (*static_cast<std::function<void()>*>(call))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

Tensor chain(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < kOps; ++i) {
    y = neg(y);
  }
  return y;
}

TEST(DeepChainTest, IsDifferentiatedOnASmallStack) {
  const auto domain = Domain::create();
  on_small_stack([&] {
    const UseDomain use(*domain);
    const Tensor x = requires_grad_(ones({1}));
    backward(chain(x));
    EXPECT_EQ(x.grad().item(), 1.0);
  });
  EXPECT_EQ(domain->stats().live, 0);
}

TEST(DeepChainTest, IsDroppedOnASmallStack) {
  const auto domain = Domain::create();
  on_small_stack([&] {
    const UseDomain use(*domain);
    const Tensor x = requires_grad_(ones({1}));
    chain(x);
  });
  EXPECT_EQ(domain->stats().live, 0);
}

TEST(DeepChainTest, FreesEachUnusedResultAtOnce) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor x = requires_grad_(ones({1}));
  Tensor unused = neg(x);
  const auto before = domain->stats();
  for (int i = 0; i < kOps; ++i) {
    unused = neg(x);
  }
  EXPECT_EQ(domain->stats().live, before.live);
  EXPECT_EQ(domain->stats().live_blocks, before.live_blocks);
}

}  // namespace
}  // namespace neap::tests
