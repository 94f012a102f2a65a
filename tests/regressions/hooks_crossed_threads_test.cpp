// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Hooks were one thread's business: a removal ended a closure that another
// thread ran, two registrations lost the list, and a removed hook stayed in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/context.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"

namespace neap {
namespace {

constexpr int kThreads = 4;

template <class Body>
void in_threads(const Body& body) {
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      while (!go.load()) {
      }
      body(i);
    });
  }
  go = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

Bytes live_bytes() {
  return memory::domain().stats().live;
}

Tensor leaf() {
  return requires_grad_(full({8}, 0.5));
}

TEST(HooksAcrossThreadsTest, AHookIsRemovedWhileOthersDifferentiate) {
  const Tensor x = leaf();
  std::atomic<bool> done{false};
  std::thread remover([&] {
    for (int i = 0; i < 500; ++i) {
      const auto payload = std::make_shared<std::vector<int>>(64, i);
      HookHandle handle =
          register_hook(x, [payload, i](const Tensor&) -> Tensor {
            for (const int value : *payload) {
              EXPECT_EQ(value, i);
            }
            return {};
          });
      std::this_thread::yield();
      handle.remove();
    }
    done = true;
  });
  std::vector<std::thread> walkers;
  for (int t = 0; t < 2; ++t) {
    walkers.emplace_back([&] {
      while (!done) {
        grad(sum(mul(x, x)), {x});
      }
    });
  }
  remover.join();
  for (std::thread& walker : walkers) {
    walker.join();
  }
}

TEST(HooksAcrossThreadsTest, ThreadsRegisterOnOneLeafAtOnce) {
  constexpr int kEach = 100;
  for (int round = 0; round < 5; ++round) {
    const Tensor x = leaf();
    std::atomic<int> calls{0};
    in_threads([&](int) {
      for (int i = 0; i < kEach; ++i) {
        register_hook(x, [&calls](const Tensor&) { ++calls; });
      }
    });
    grad(sum(mul(x, x)), {x});
    EXPECT_EQ(calls.load(), kThreads * kEach);
  }
}

TEST(HooksAcrossThreadsTest, ThreadsAskForTheGradientOfOneResult) {
  const Tensor x = leaf();
  const Tensor y = mul(x, x);
  in_threads([&](int) {
    for (int i = 0; i < 100; ++i) {
      retain_grad(y);
      y.grad();
    }
  });
  backward(sum(y));
  EXPECT_EQ(y.grad().at({0}), 1.0);
}

TEST(HooksAcrossThreadsTest, AClosureEndsWithTheLastCallThatRunsIt) {
  const Tensor x = leaf();
  const auto payload = std::make_shared<int>(1);
  std::atomic<int> inside{0};
  std::atomic<bool> leave{false};
  HookHandle handle = register_hook(x, [&, payload](const Tensor&) {
    ++inside;
    while (!leave) {
      std::this_thread::yield();
    }
    EXPECT_EQ(*payload, 1);
  });
  std::thread one([&] { grad(sum(mul(x, x)), {x}); });
  std::thread two([&] { grad(sum(mul(x, x)), {x}); });
  while (inside != 2) {
    std::this_thread::yield();
  }
  handle.remove();
  EXPECT_EQ(payload.use_count(), 2);
  leave = true;
  one.join();
  two.join();
  EXPECT_EQ(payload.use_count(), 1);
}

TEST(HooksTest, RegisteringAndRemovingLeavesNothing) {
  const Tensor x = leaf();
  register_hook(x, [](const Tensor&) {}).remove();
  const Bytes before = live_bytes();
  for (int i = 0; i < 100; ++i) {
    register_hook(x, [](const Tensor&) {}).remove();
  }
  EXPECT_EQ(live_bytes(), before);
}

TEST(HooksTest, ListsStayShortWhereSomeHooksStay) {
  const Tensor x = leaf();
  int calls = 0;
  for (int i = 0; i < 10; ++i) {
    register_hook(x, [&calls](const Tensor&) { ++calls; });
  }
  for (int i = 0; i < 100; ++i) {
    register_hook(x, [](const Tensor&) {}).remove();
  }
  const Bytes before = live_bytes();
  for (int i = 0; i < 1000; ++i) {
    register_hook(x, [](const Tensor&) {}).remove();
  }
  EXPECT_LE(live_bytes(), before + 20 * 128);
  grad(sum(mul(x, x)), {x});
  EXPECT_EQ(calls, 10);
}

TEST(HooksTest, AHandleMayOutliveTheTensor) {
  HookHandle handle;
  const auto payload = std::make_shared<int>(1);
  {
    const Tensor x = leaf();
    register_hook(x, [payload](const Tensor&) {});
    handle = register_hook(x, [](const Tensor&) {});
  }
  EXPECT_EQ(payload.use_count(), 1);
  handle.remove();
  handle.remove();
}

TEST(HooksTest, TheGradModeOfAHookIsThatOfThePass) {
  const Tensor x = leaf();
  std::vector<bool> modes;
  std::vector<bool> recorded;
  const auto note = [&](const Tensor&) {
    modes.push_back(tensor::execution().grad_enabled);
    recorded.push_back(mul(x, x).requires_grad());
  };
  register_hook(x, note);
  register_post_accumulate_hook(x, note);
  const Tensor y = mul(x, x);
  register_hook(y, note);
  backward(sum(y), {.create_graph = true});
  EXPECT_THAT(modes, testing::ElementsAre(true, true, true));
  EXPECT_EQ(modes, recorded);
  modes.clear();
  recorded.clear();
  backward(sum(y));
  EXPECT_THAT(modes, testing::ElementsAre(false, false, false));
  EXPECT_EQ(modes, recorded);
  zero_grad(std::span(&x, 1));
}

// Results are built on two nodes that another thread consumes meanwhile.
TEST(GraphsAcrossThreadsTest, ResultsAreBuiltOnWhatABackwardConsumes) {
  for (int round = 0; round < 60; ++round) {
    const Tensor x = leaf();
    const Tensor a = tanh(x);
    const Tensor b = mul(x, x);
    in_threads([&](int i) {
      try {
        if (i < 2) {
          grad(sum(i == 0 ? a : b), {x});
          return;
        }
        for (int k = 0; k < 10; ++k) {
          const Tensor d = mul(add(a, b), b);
          if (k == 9) {
            grad(sum(d), {x}, {.retain_graph = true});
          }
        }
      } catch (const GraphError&) {
        // A part was consumed, or another backward is in it.
      }
    });
  }
}

}  // namespace
}  // namespace neap
