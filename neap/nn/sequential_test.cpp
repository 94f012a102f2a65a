// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/sequential.hpp"

#include <gmock/gmock.h>
#include <pthread.h>

#include "neap/autograd/backward.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using ::testing::ElementsAre;

// Not plain: its forward is its own.
class Residual : public Sequential {
 public:
  using Sequential::Sequential;
  Tensor forward(const Tensor& x) const override {
    return x + Sequential::forward(x);
  }
};

std::vector<std::string> paths_of(const Watch& watch) {
  std::vector<std::string> paths;
  for (const LayerCall& call : watch.calls()) {
    paths.emplace_back(call.path);
  }
  return paths;
}

class SequentialTest : public DoorTest {};

TEST_F(SequentialTest, CallsNestedOnesInOrder) {
  Sequential net(
      ReLU(), Sequential(LeakyReLU(-1.0), Sequential(LeakyReLU(3.0))), Tanh());
  EXPECT_EQ(net(scalar(-2.0)).item(), 0.0);
  Sequential empty;
  Sequential nested;
  nested.push(Sequential()).push(std::move(empty));
  const Tensor x = ones({2});
  EXPECT_TRUE(nested(x).is_alias_of(x));
}

TEST_F(SequentialTest, LeavesDerivedOnesTheirForward) {
  Residual inner(LeakyReLU(1.0));
  Sequential net{Tanh()};
  net.push(std::move(inner));
  const Tensor x = scalar(0.5);
  EXPECT_EQ(net(x).item(), 2.0 * Tanh()(x).item());
}

TEST_F(SequentialTest, ShowsAWatchTheNestedOnes) {
  Sequential net(named("a", Sequential(named("b", Sequential(ReLU())))),
                 named("c", Tanh()));
  const Watch watch(net);
  const Tensor y = net(ones({3}));
  EXPECT_THAT(paths_of(watch), ElementsAre("", "a", "a.b", "a.b.0", "c"));
  EXPECT_TRUE(watch.calls()[1].output.is_alias_of(watch.calls()[3].output));
  EXPECT_TRUE(watch.calls()[1].is_outermost == false);
  EXPECT_TRUE(watch.calls()[0].is_outermost);
}

TEST_F(SequentialTest, ShowsAWatchNothingOfANestedOneThatFails) {
  Sequential net(named("a", Sequential(Tanh(), Linear(2, 2))));
  const Watch watch(net);
  EXPECT_THROW(net(ones({1, 3})), ShapeError);
  EXPECT_TRUE(watch.calls().empty());
}

constexpr int kDepth = 2000;

Sequential deep_net() {
  Sequential net;
  Sequential* at = &net;
  for (int i = 0; i < kDepth; ++i) {
    at->push("a", Sequential());
    at = static_cast<Sequential*>(&(*at)[0]);
  }
  at->push("fc", Linear(1, 1, false));
  return net;
}

void run_deep(memory::Domain& domain) {
  const memory::UseDomain use(domain);
  Sequential net = deep_net();
  Sequential copy = net.clone();
  const Tensor x = full({1, 1}, 2.0);
  const Tensor weight = net.parameters()[0].tensor;
  EXPECT_EQ(net(x).item(), 2.0 * weight.item());
  EXPECT_EQ(copy(x).item(), net(x).item());
  backward(sum(copy(x)));
  EXPECT_EQ(copy.parameters()[0].tensor.grad().item(), 2.0);
  EXPECT_EQ(copy.parameters()[0].name.size(), 2U * kDepth + 9);
}

TEST_F(SequentialTest, NestsAnyDepthOnASmallStack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* domain) -> void* {
                  run_deep(*static_cast<memory::Domain*>(domain));
                  return nullptr;
                },
                domain_.get()),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace
}  // namespace neap::nn
