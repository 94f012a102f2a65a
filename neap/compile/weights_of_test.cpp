// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The weights of a traced step that may be away: only those of which the
// program shows all that the step does with them.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/away.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/lower.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/program/keep_away.hpp"
#include "neap/program/verify.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

constexpr std::int64_t kSide = 8;
constexpr Bytes kBytes = kSide * kSide * 4;

struct Net {
  Net() : w(requires_grad_(randn({kSide, kSide}))) {
    sgd.emplace(ParameterList{{memory::String("w"), w, {}}},
                optim::SGDOptions{.lr = 0.1});
  }
  void learn(const Tensor& loss) {
    backward(loss);
    sgd->step({.release_gradients = true});
  }
  Tensor w;
  std::optional<optim::SGD> sgd;
};

template <class F>
memory::Vector<MayGo> weights_in(F&& step, Bytes least = 1) {
  const Lowered lowered =
      neap::lower(step, {tensor::Spec{f32, {kSide, kSide}}});
  return weights_of(lowered.program, least);
}

TEST(WeightsOfTest, AWeightThatIsReadAndUpdatedOnce) {
  Net net;
  const auto step = [&](const Tensor& x) {
    const Tensor loss = sum(square(matmul(matmul(x, net.w), transpose(net.w))));
    net.learn(loss);
    return loss;
  };
  const auto found = weights_in(step);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].size, kBytes);
  EXPECT_NE(found[0].update, kNoCall);
  EXPECT_EQ(found[0].uses.back(), found[0].update);
  EXPECT_GE(found[0].uses.size(), 4U);
  EXPECT_TRUE(weights_in(step, kBytes + 1).empty());
}

TEST(WeightsOfTest, AWeightThatIsOnlyRead) {
  Net net;
  const NoGrad no_grad;
  const auto found =
      weights_in([&](const Tensor& x) { return sum(matmul(x, net.w)); });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].update, kNoCall);
  EXPECT_EQ(found[0].uses.size(), 1U);
}

TEST(WeightsOfTest, NotWhatIsNoParameter) {
  const Tensor data = randn({kSide, kSide});
  const auto found =
      weights_in([&](const Tensor& x) { return sum(matmul(x, data)); });
  EXPECT_TRUE(found.empty());
}

TEST(WeightsOfTest, NotOneThatTheStepReturns) {
  Net net;
  const auto found = weights_in([&](const Tensor& x) {
    net.learn(sum(matmul(x, net.w)));
    return net.w.detach();
  });
  EXPECT_TRUE(found.empty());
}

TEST(WeightsOfTest, NotOneOfWhichAViewIsReturned) {
  Net net;
  const NoGrad no_grad;
  const auto found = weights_in(
      [&](const Tensor& x) { return matmul(x, net.w) + select(net.w, 0, 0); });
  EXPECT_EQ(found.size(), 1U);
  const auto returned = weights_in([&](const Tensor& x) {
    return std::array{matmul(x, net.w), Tensor(select(net.w, 0, 0))};
  });
  EXPECT_TRUE(returned.empty());
}

TEST(WeightsOfTest, NotOneThatIsReadAfterItsUpdate) {
  Net net;
  const auto found = weights_in([&](const Tensor& x) {
    net.learn(sum(matmul(x, net.w)));
    const NoGrad no_grad;
    return sum(net.w * 2.0);
  });
  EXPECT_TRUE(found.empty());
}

TEST(WeightsOfTest, NotOneThatIsUpdatedTwice) {
  Net net;
  const auto found = weights_in([&](const Tensor& x) {
    net.learn(sum(matmul(x, net.w)));
    const Tensor loss = sum(square(matmul(x, net.w)));
    net.learn(loss);
    return loss;
  });
  EXPECT_TRUE(found.empty());
}

TEST(WeightsOfTest, NotOneOfWhichAPartIsWrittenFirst) {
  Net net;
  const auto found = weights_in([&](const Tensor& x) {
    {
      const NoGrad no_grad;
      fill_(select(net.w.detach(), 0, 0), 0.5);
    }
    const Tensor loss = sum(matmul(x, net.w));
    net.learn(loss);
    return loss;
  });
  EXPECT_TRUE(found.empty());
}

TEST(WeightsOfTest, NotOneThatAGradientLiesIn) {
  Net net;
  const Tensor other = requires_grad_(randn({kSide, kSide}));
  const auto found = weights_in([&](const Tensor& x) {
    backward(sum(net.w * other) + sum(x));
    return x * 2.0;
  });
  for (const MayGo& one : found) {
    EXPECT_EQ(one.update, kNoCall);  // gradients are new tensors, at most
  }
}

TEST(WeightsOfTest, NotOneThatACheckLooksAt) {
  Net net;
  const Tensor table = requires_grad_(randn({kSide, kSide}));
  const NoGrad no_grad;
  const auto found = weights_in([&](const Tensor& x) {
    return matmul(x, cholesky(matmul(net.w, transpose(net.w)) + eye(kSide)));
  });
  EXPECT_LE(found.size(), 1U);
}

TEST(WeightsOfTest, NotLentMemory) {
  std::array<float, kSide * kSide> elements{};
  const Tensor lent = requires_grad_(
      Tensor::borrow(std::span<float>(elements), Shape{kSide, kSide}));
  const NoGrad no_grad;
  const auto found =
      weights_in([&](const Tensor& x) { return sum(matmul(x, lent)); });
  EXPECT_TRUE(found.empty());
}

// --- the program -------------------------------------------------------------

TEST(WeightsOfTest, GroupsOfUsesHaveValuesOfTheirOwn) {
  Net net;
  const auto step = [&](const Tensor& x) {
    const Tensor loss = sum(square(matmul(tanh(matmul(x, net.w)), net.w)));
    net.learn(loss);
    return loss;
  };
  Lowered lowered = neap::lower(step, {tensor::Spec{f32, {kSide, kSide}}});
  Program& program = lowered.program;
  auto found = weights_of(program, 1);
  ASSERT_EQ(found.size(), 1U);
  AwayMoves moves{found[0], true, {}, found[0].update + 1};
  for (const std::uint32_t use : found[0].uses) {
    moves.groups.push_back({use, use, use});
  }
  keep_away(program, std::span(&moves, 1));
  EXPECT_EQ(fault_of(program), "");
  const AwayTraffic traffic = away_traffic(program);
  EXPECT_EQ(traffic.written, kBytes);
  EXPECT_EQ(traffic.fetched, kBytes * static_cast<Bytes>(moves.groups.size()));
  for (const Value& value : program.values) {
    EXPECT_FALSE(value.origin == Origin::kExternal &&
                 value.index == found[0].external);
  }
}

}  // namespace
}  // namespace neap::compiler
