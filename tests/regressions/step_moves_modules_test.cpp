// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A traced step that swapped captured modules, or assigned over one, left their
// names and modes exchanged, which no run did again: what a name meant depended
// on how often the step had been traced.
#include <gmock/gmock.h>

#include <array>
#include <optional>
#include <utility>

#include "neap/compile/compile_for_test.hpp"
#include "neap/models/mlp.hpp"
#include "neap/models/unet.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/recurrent.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Net : nn::Module {
  nn::Linear a{2, 2};
  nn::Linear b{2, 2};
  nn::Dropout drop{0.5};
  nn::Sequential one{nn::Linear(2, 2), nn::Tanh()};
  nn::Sequential other{nn::Linear(2, 2)};
  nn::GRU first{2, 2};
  nn::GRU second{2, 2};
  Net() {
    register_module("a", a);
    register_module("b", b);
    register_module("drop", drop);
    register_module("one", one);
    register_module("other", other);
    register_module("first", first);
    register_module("second", second);
  }
};

class StepMovesModulesTest : public ::testing::Test {
 protected:
  // The results of each layer, and the names that its parts have.
  memory::Vector<float> seen() {
    memory::Vector<float> all;
    const auto add = [&](const Tensor& tensor) {
      for (const float value : floats(tensor)) {
        all.push_back(value);
      }
    };
    for (const Parameter& parameter : net_.named_parameters()) {
      add(parameter.tensor);
    }
    add(net_.a(x_));
    add(net_.b(x_));
    add(net_.one(x_));
    add(net_.other(x_));
    add(net_.first(sequence_));
    add(net_.second(sequence_));
    return all;
  }

  template <class Act>
  void expect_refused(const Act& act) {
    const auto before = seen();
    auto step = neap::compile([&](const Tensor& x) {
      act(x);
      return net_.b(tanh(net_.a(x)));
    });
    const auto is_refused =
        ThrowsMessage<TraceError>(HasSubstr("moves, swaps, assigns over"));
    EXPECT_THAT([&] { step.prepare({{f32, {1, 2}}}); }, is_refused);
    EXPECT_THAT(seen(), ElementsAreArray(before));
    for (int call = 0; call < 3; ++call) {
      EXPECT_THAT([&] { step(x_); }, is_refused);
      EXPECT_THAT(seen(), ElementsAreArray(before));
    }
    expect_consistent();
  }

  // A layer's name leads to the layer.
  void expect_consistent() {
    EXPECT_TRUE(net_.parameter("a.weight").is_alias_of(net_.a.weight()));
    EXPECT_TRUE(net_.parameter("b.weight").is_alias_of(net_.b.weight()));
    EXPECT_EQ(net_.one.size(), 2);
    EXPECT_EQ(net_.other.size(), 1);
    net_.a.eval();
    net_.drop.eval();
    EXPECT_FALSE(net_.a.is_training());
    EXPECT_TRUE(net_.b.is_training());
    EXPECT_FALSE(net_.drop.is_training());
    net_.train();
    EXPECT_TRUE(net_.a.is_training());
    EXPECT_TRUE(net_.drop.is_training());
  }

  Net net_;
  Tensor x_ = full({1, 2}, 0.5);
  Tensor sequence_ = full({3, 1, 2}, 0.25);
};

TEST_F(StepMovesModulesTest, LayersAreNotSwapped) {
  expect_refused([&](const Tensor&) { std::swap(net_.a, net_.b); });
}

TEST_F(StepMovesModulesTest, LayersAreNotSwappedAfterATie) {
  net_.tie("b.weight", net_.a.weight());
  expect_refused([&](const Tensor&) { std::swap(net_.a, net_.b); });
}

TEST_F(StepMovesModulesTest, SequentialsKeepTheirLayers) {
  expect_refused([&](const Tensor&) { std::swap(net_.one, net_.other); });
  expect_refused([&](const Tensor& x) {
    const nn::Sequential gone = std::move(net_.one);
    gone(x);
  });
}

TEST_F(StepMovesModulesTest, RecurrentLayersKeepTheirWeights) {
  expect_refused([&](const Tensor&) { std::swap(net_.first, net_.second); });
  expect_refused([&](const Tensor&) {
    const nn::GRU gone = std::move(net_.first);
    gone(sequence_);
  });
}

template <class Model>
void expect_not_swapped(Model& one, Model& other, const Tensor& x) {
  const Tensor before = one(x).detach();
  auto step = neap::compile([&](const Tensor& in) {
    std::swap(one, other);
    return one(in);
  });
  for (int call = 0; call < 3; ++call) {
    EXPECT_THAT([&] { step(x); },
                ThrowsMessage<TraceError>(HasSubstr("moves, swaps")));
    EXPECT_THAT(floats(one(x)), ElementsAreArray(floats(before)));
  }
  one.freeze();
  EXPECT_FALSE(one(x).requires_grad());
  EXPECT_TRUE(other(x).requires_grad());
}

TEST_F(StepMovesModulesTest, ModelsKeepTheirLayers) {
  const std::array<std::int64_t, 3> widths{2, 3, 2};
  models::Mlp one(widths);
  models::Mlp other(widths);
  expect_not_swapped(one, other, x_);
  const models::UNetOptions small{.channels = 1, .classes = 1, .width = 2};
  models::UNet net(small);
  models::UNet next(small);
  expect_not_swapped(net, next, ones({2, 1, 16, 16}));
}

TEST_F(StepMovesModulesTest, ALayerWithoutTensorsIsNotAssignedOver) {
  expect_refused([&](const Tensor&) { net_.drop = nn::Dropout(0.25); });
}

TEST_F(StepMovesModulesTest, ALayerIsNotAssignedOver) {
  nn::Linear loose(2, 2);
  const auto before = floats(loose(x_));
  expect_refused([&](const Tensor&) { net_.a = std::move(loose); });
  EXPECT_THAT(floats(loose(x_)), ElementsAreArray(before));
}

TEST_F(StepMovesModulesTest, ALayerIsNotDestroyed) {
  std::optional<nn::Dropout> drop(0.5);
  auto step = neap::compile([&](const Tensor& x) {
    drop.reset();
    return x * 2.0;
  });
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<TraceError>(HasSubstr("or destroys")));
}

TEST_F(StepMovesModulesTest, AModuleOfTheStepIsMoved) {
  auto step = neap::compile([&](const Tensor& x) {
    nn::Dropout drop(0.5);
    nn::Dropout moved(std::move(drop));
    moved.eval();
    nn::Sequential layers(nn::Tanh(), std::move(moved));
    nn::Sequential all{nn::Tanh()};
    all = std::move(layers);
    return all(x);
  });
  for (int call = 0; call < 3; ++call) {
    EXPECT_THAT(floats(step(x_)), ElementsAreArray(floats(tanh(x_))));
  }
}

}  // namespace
}  // namespace neap::compiler
