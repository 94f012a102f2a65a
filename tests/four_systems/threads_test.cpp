// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Row B6: graphs that join and part, in several threads at once.
#include <array>
#include <atomic>
#include <cmath>
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

TEST(FourSystemsTest, GraphsJoinAndPartFreely_B6) {
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

TEST(FourSystemsTest, ManyThreadsBuildAndDropGraphsOnOneLeaf_B6) {
  const Tensor x = leaf({0.5});
  in_threads(4, [&](int) {
    for (int i = 0; i < 200; ++i) {
      const Tensor y = exp(tanh(x));
      const auto gradients = grad(y, {x});
      ASSERT_GT(gradients[0].item(), 0);
    }
  });
}

TEST(FourSystemsTest, NoContributionToASharedLeafIsLost_B6) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  const Tensor x = leaf({1, 1});
  in_threads(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      const Tensor y = square(x) * static_cast<double>(i + 1);
      backward(sum(y));
    }
  });
  EXPECT_THAT(numbers(x.grad()),
              ElementsAre(2 * kRounds * 10, 2 * kRounds * 10));
}

TEST(FourSystemsTest, BackwardReleaseAndDropRaceOverLeavesAlone_B6) {
  const Tensor x = leaf({0.5});
  in_threads(4, [&](int i) {
    for (int round = 0; round < 200; ++round) {
      const Tensor shared = square(x);
      Tensor y = exp(shared);
      const Tensor z = sin(shared);
      if (i % 2 == 0) {
        graph::release(y);
      } else {
        y = Tensor();
      }
      const auto gradients = grad(z, {x});
      ASSERT_DOUBLE_EQ(gradients[0].item(), std::cos(0.25));
    }
  });
}

// Before the consumption or after it: in either case the branch can never be
// differentiated, and nobody is harmed.
TEST(FourSystemsTest, ABranchOnANodeThatAnotherThreadConsumes_B6) {
  for (int round = 0; round < 200; ++round) {
    const Tensor x = leaf({2});
    const Tensor shared = square(x);
    const Tensor first = sin(shared);
    Tensor late;
    std::atomic<int> ready = 0;
    in_threads(2, [&](int i) {
      ++ready;
      while (ready < 2) {
      }
      if (i == 0) {
        backward(first);
      } else {
        late = exp(shared);
      }
    });
    ASSERT_EQ(x.grad().item(), std::cos(4.0) * 4);
    ASSERT_DOUBLE_EQ(late.item(), std::exp(4.0));
    ASSERT_THROW(backward(late), GraphError);
    ASSERT_EQ(x.grad().item(), std::cos(4.0) * 4);
  }
}

// y = x^2, whose reverse rule asks for a derivative of its own.
struct Nested {
  static constexpr std::string_view name = "nested";
  static constexpr int inputs = 1;
  static constexpr bool dense = true;
  static constexpr CustomOp::Facts facts{.vjp_reads = {{{.inputs = 0b1}}}};

  void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const {
    out[0] = in[0];
  }
  void forward(const CustomOp::Forward& c) const noexcept {
    const auto x = c.values<double>(0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      c.results<double>()[i] = x[i] * x[i];
    }
  }
  void vjp(CustomOp::Vjp& c) const {
    const EnableGrad guard;
    const Tensor x = requires_grad_(copy(c.input(0).detach()));
    const Tensor slope = grad(sum(square(x)), {x})[0];
    c.set(0, c.take_cotangent() * slope);
  }
};

TEST(FourSystemsTest, ABackwardInsideACustomOpDoesNotHang_B6) {
  const CustomOp nested{Nested{}};
  const Tensor x = leaf({3});
  in_threads(4, [&](int) {
    for (int round = 0; round < 50; ++round) {
      const auto gradients = grad(sum(nested(x) * 2.0), {x});
      ASSERT_EQ(gradients[0].item(), 12);
    }
  });
}

}  // namespace
}  // namespace neap::four_systems
