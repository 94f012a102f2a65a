// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows B2 to B4, B7 and B11: what a consumption reaches, and who is told.
#include <array>
#include <cstdlib>

#include "support.hpp"

namespace neap::four_systems {
namespace {

using graph::FreedNode;
using graph::UseObserver;
using graph::Why;

class Log : public graph::Observer {
 public:
  void freed(const FreedNode& node) noexcept override {
    nodes_.push_back({std::string(node.op), node.why});
  }
  std::vector<std::pair<std::string, Why>> take() {
    return std::exchange(nodes_, {});
  }

 private:
  std::vector<std::pair<std::string, Why>> nodes_;
};

using Told = std::pair<std::string, Why>;
using ::testing::UnorderedElementsAre;

std::string line(int number) {
  return "burn_lifetime_test.cpp:" + std::to_string(number);
}

TEST(FourSystemsTest, BackwardConsumesNodeByNode_B2) {
  const Tensor x = leaf({0.5});
  const Tensor y = exp(sin(square(x)));
  Log log;
  const UseObserver guard(log);
  backward(y);
  EXPECT_THAT(log.take(), ElementsAre(Told{"exp", Why::kConsumed},
                                      Told{"sin", Why::kConsumed},
                                      Told{"square", Why::kConsumed}));
}

TEST(FourSystemsTest, DescendantsAreUnavailableAndFreedAtOnce_B3) {
  const Tensor x = requires_grad_(full({1000}, 0.5, f64));
  const Tensor shared = square(x);
  Tensor late = tanh(exp(shared));
  const Tensor first = sin(shared);
  Log log;
  const UseObserver guard(log);
  const Bytes before = live();
  backward(first, {.cotangent = ones({1000}, f64)});
  EXPECT_THAT(log.take(),
              UnorderedElementsAre(Told{"sin", Why::kConsumed},
                                   Told{"square", Why::kConsumed},
                                   Told{"exp", Why::kUnavailable},
                                   Told{"tanh", Why::kUnavailable}));
  // Residuals of exp that nobody else holds: gone, though `late` is there.
  EXPECT_LT(live() - before, 8'000 - 7'000);
  EXPECT_EQ(late.element_count(), 1000);
  late = Tensor();
  EXPECT_THAT(log.take(), IsEmpty());  // a node is told of once
}

TEST(FourSystemsTest, WhatIsBuiltOnAConsumedNodeIsUnavailableFromBirth_B3) {
  const Tensor x = leaf({2});
  const Tensor shared = square(x);
  backward(shared * 1.0);
  const Bytes before = live();
  const Tensor late = exp(shared * 3.0);
  EXPECT_TRUE(late.requires_grad());
  EXPECT_THAT(refusal<GraphError>([&] { backward(late); }), Not(IsEmpty()));
  EXPECT_LT(live() - before, 1000);
  EXPECT_DOUBLE_EQ(late.item(), std::exp(12.0));
}

TEST(FourSystemsTest, NothingUsefulIsEverLost_B4) {
  const Tensor x = leaf({2});
  const Tensor y = leaf({3});
  const Tensor base = square(x);
  const Tensor apart = exp(y);
  const Tensor gone = base * 2.0;
  const Tensor joined = apart * base;  // will be unavailable
  const Tensor useful = sin(apart);    // stands on a part of it
  backward(gone);
  EXPECT_THROW(backward(joined), GraphError);
  backward(useful);
  EXPECT_DOUBLE_EQ(y.grad().item(), std::cos(std::exp(3.0)) * std::exp(3.0));
}

TEST(FourSystemsTest, TheRefusalNamesTheOpAndWhereItWasConsumed_B7) {
  const Tensor x = leaf({2});
  const Tensor other = leaf({5});
  const Tensor shared = square(x);
  const int recorded = __LINE__ - 1;
  const Tensor first = exp(shared);
  const Tensor second = tanh(shared) * exp(other);
  backward(first);
  const int consumed = __LINE__ - 1;
  const double gradient = x.grad().item();
  const std::string text = refusal<GraphError>([&] { backward(second); });
  EXPECT_THAT(text, HasSubstr("'square'"));
  EXPECT_THAT(text, HasSubstr(line(recorded)));
  EXPECT_THAT(text, HasSubstr(line(consumed)));
  EXPECT_THAT(text, HasSubstr("retain_graph"));
  EXPECT_EQ(x.grad().item(), gradient);
  EXPECT_FALSE(other.grad().defined());
}

TEST(FourSystemsTest, AnObserverIsToldWhichNodeWhenAndWhy_B11) {
  const Tensor x = leaf({2});
  Log log;
  const UseObserver guard(log);
  { const Tensor dropped = exp(square(x)); }
  EXPECT_THAT(log.take(),
              UnorderedElementsAre(Told{"exp", Why::kUnreferenced},
                                   Told{"square", Why::kUnreferenced}));
  const Tensor released = tanh(x);
  graph::release(released);
  EXPECT_THAT(log.take(), ElementsAre(Told{"tanh", Why::kReleased}));
  const Tensor shared = sin(x);
  const Tensor late = cos(shared);
  backward(shared);
  EXPECT_THAT(log.take(), UnorderedElementsAre(Told{"sin", Why::kConsumed},
                                               Told{"cos", Why::kUnavailable}));
}

}  // namespace
}  // namespace neap::four_systems
