// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Graphs that several threads build, differentiate, release and drop. Numbers
// are whole, so that sums are exact in any order.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/lifetime.hpp"
#include "neap/graph/node.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

constexpr int kThreads = 4;

// Threads that begin at the same instant, in the domain of the test.
void in_threads(Domain& domain, int count,
                const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      const UseDomain use(domain);
      ++ready;
      while (ready.load() < count) {
        std::this_thread::yield();
      }
      work(i);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

class ConcurrencyTest : public testing::Test {
 protected:
  ~ConcurrencyTest() override {
    EXPECT_EQ(domain_->stats().live, 0);
    EXPECT_TRUE(domain_->is_consistent());
  }
  static Tensor leaf(double value) {
    return requires_grad_(scalar(value, f64));
  }
  static Tensor negated(Tensor x, int times) {
    for (int i = 0; i < times; ++i) {
      x = neg(std::move(x));
    }
    return x;
  }

  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

TEST_F(ConcurrencyTest, SeveralThreadsBuildOneGraph) {
  const Tensor x = leaf(3.0);
  const Tensor y = mul(x, x);
  std::vector<Tensor> parts(kThreads);
  in_threads(*domain_, kThreads, [&](int i) {
    Tensor sum = mul(y, i + 1.0);
    for (int k = 0; k < 200; ++k) {
      sum = add(std::move(sum), y);
    }
    parts[static_cast<std::size_t>(i)] = sum;
  });
  Tensor sum = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    sum = add(sum, parts[i]);
  }
  parts.clear();
  backward(sum);
  EXPECT_EQ(x.grad().item(), 6.0 * (1 + 2 + 3 + 4 + 4 * 200));
}

TEST_F(ConcurrencyTest, BranchesOfOneNodeAreDroppedByTheirThreads) {
  const Tensor x = leaf(2.0);
  const Tensor y = neg(x);
  in_threads(*domain_, kThreads, [&](int) {
    for (int k = 0; k < 300; ++k) {
      const Tensor z = mul(y, y);
      const Tensor other = add(z, y);
      EXPECT_EQ(other.item(), 2.0);
    }
  });
  backward(y);
  EXPECT_EQ(x.grad().item(), -1.0);
}

TEST_F(ConcurrencyTest, ManyThreadsDifferentiateGraphsOfTheirOwn) {
  in_threads(*domain_, kThreads, [&](int i) {
    for (int k = 0; k < 100; ++k) {
      const Tensor x = leaf(i + 1.0);
      backward(mul(mul(x, x), negated(x, 4)));
      EXPECT_EQ(x.grad().item(), 3.0 * (i + 1) * (i + 1));
    }
  });
}

TEST_F(ConcurrencyTest, AccumulationIntoOneLeafLosesNothing) {
  constexpr int kTimes = 250;
  const Tensor x = leaf(1.0);
  const Tensor w = leaf(2.0);
  in_threads(*domain_, kThreads, [&](int i) {
    for (int k = 0; k < kTimes; ++k) {
      // Some take the leaves in another order.
      backward(i % 2 == 0 ? mul(x, w) : mul(w, x));
    }
  });
  EXPECT_EQ(x.grad().item(), 2.0 * kThreads * kTimes);
  EXPECT_EQ(w.grad().item(), 1.0 * kThreads * kTimes);
}

TEST_F(ConcurrencyTest, AGradientIsReadWhileOthersAddToIt) {
  constexpr int kTimes = 200;
  const Tensor x = leaf(1.0);
  in_threads(*domain_, 3, [&](int i) {
    double last = 0.0;
    for (int k = 0; k < kTimes; ++k) {
      if (i != 0) {
        backward(neg(x));
      } else if (const Tensor grad = x.grad(); grad.defined()) {
        EXPECT_LE(grad.item(), last);
        last = grad.item();
      }
    }
  });
  EXPECT_EQ(x.grad().item(), -2.0 * kTimes);
}

TEST_F(ConcurrencyTest, BackwardAndReleaseRaceOverSharedLeavesAlone) {
  constexpr int kTimes = 150;
  const Tensor w = leaf(5.0);
  in_threads(*domain_, kThreads, [&](int i) {
    for (int k = 0; k < kTimes; ++k) {
      const Tensor y = mul(w, w);
      const Tensor z = negated(y, 3);
      if (i % 2 == 0) {
        backward(z);
      } else {
        graph::release(z);
        EXPECT_THROW(backward(z), GraphError);
      }
    }
  });
  EXPECT_EQ(w.grad().item(), -10.0 * 2 * kTimes);
}

// One thread consumes y while the other builds on it and differentiates that:
// one of the two walks is refused, before any damage, or neither met the other.
TEST_F(ConcurrencyTest, ABranchIsRegisteredOnANodeThatAnotherThreadConsumes) {
  for (int round = 0; round < 100; ++round) {
    const Tensor x = leaf(3.0);
    const Tensor y = negated(x, 21);
    Tensor branch;
    std::atomic<int> done{0};
    in_threads(*domain_, 2, [&](int i) {
      const Tensor root = i == 0 ? y : negated(y, 4);
      if (i == 1) {
        branch = root;
      }
      try {
        backward(root);
        ++done;
      } catch (const GraphError&) {  // the other one was first
      }
    });
    EXPECT_EQ(done.load(), 1);
    EXPECT_EQ(x.grad().item(), -1.0);
    EXPECT_TRUE(branch.requires_grad());
    EXPECT_THROW(backward(branch), GraphError);
    EXPECT_THROW(backward(y), GraphError);
  }
}

TEST_F(ConcurrencyTest, ANodeIsReleasedWhileAnotherThreadBuildsOnIt) {
  for (int round = 0; round < 100; ++round) {
    const Tensor x = leaf(2.0);
    const Tensor y = mul(x, x);
    const Tensor same = y.alias();
    in_threads(*domain_, 2, [&](int i) {
      if (i == 0) {
        graph::release(y);
        return;
      }
      const Tensor z = negated(same, 3);
      backward(z);
    });
    EXPECT_EQ(x.grad().item(), -4.0);
    EXPECT_THROW(backward(y), GraphError);
  }
}

class CountingObserver final : public graph::Observer {
 public:
  void freed(const graph::FreedNode& node) noexcept override {
    ++counts[static_cast<std::size_t>(node.why)];
  }
  std::array<int, 4> counts{};
};

TEST_F(ConcurrencyTest, ObserversAreToldWhatEndsInTheirThread) {
  constexpr int kTimes = 100;
  const Tensor w = leaf(1.0);
  in_threads(*domain_, kThreads, [&](int) {
    CountingObserver observer;
    const graph::UseObserver use(observer);
    for (int k = 0; k < kTimes; ++k) {
      const Tensor y = neg(w);
      const Tensor later = negated(y, 2);
      backward(y);
    }
    for (int k = 0; k < kTimes; ++k) {
      const Tensor dropped = negated(w, 3);
    }
    const std::array<int, 4> expected = {kTimes, 2 * kTimes, 3 * kTimes, 0};
    EXPECT_EQ(observer.counts, expected);
  });
}

TEST_F(ConcurrencyTest, AHugeGraphIsDroppedByAnotherThread) {
  const Tensor w = leaf(1.0);
  Tensor huge = negated(w, 100'000);
  in_threads(*domain_, 2, [&](int i) {
    if (i == 0) {
      huge = Tensor();
      return;
    }
    for (int k = 0; k < 200; ++k) {
      backward(negated(w, 2));
    }
  });
  EXPECT_EQ(w.grad().item(), 200.0);
}

TEST_F(ConcurrencyTest, AHookRunsABackwardOfAnotherGraph) {
  const Tensor w = leaf(1.0);
  in_threads(*domain_, kThreads, [&](int) {
    for (int k = 0; k < 50; ++k) {
      const Tensor x = leaf(4.0);
      const Tensor y = mul(x, x);
      const Tensor side = neg(w);
      register_hook(y, [side](const Tensor&) { backward(side); });
      backward(negated(y, 2));
      EXPECT_EQ(x.grad().item(), 8.0);
    }
  });
  EXPECT_EQ(w.grad().item(), -50.0 * kThreads);
}

}  // namespace
}  // namespace neap
