// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/memory_map.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <string>

#include "neap/autograd/backward.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/losses.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using memory::Category;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names_of(std::span<const MapEntry> entries) {
  std::vector<std::string> names;
  for (const MapEntry& entry : entries) {
    names.emplace_back(entry.name);
  }
  return names;
}

Sequential small_net() {
  return Sequential(named("fc1", Linear(4, 3)), named("act", Tanh()),
                    named("fc2", Linear(3, 2)));
}

// Calls one layer twice, and has an input of its own that nothing makes.
class Twice : public Layer {
 public:
  Linear fc{2, 2};
  Twice() { register_module("fc", fc); }
  Tensor forward(const Tensor& x) const override { return fc(fc(x)); }
};

// A module of another form.
class Pair : public Module {
 public:
  Linear fc{2, 2};
  Pair() { register_module("fc", fc); }
  Tensor forward(const Tensor& a, const Tensor& b,
                 CallSite site = CallSite::here()) {
    const ModuleScope scope(*this, site);
    Tensor y = fc(a) + b;
    scope.note(y, a, b);
    return y;
  }
};

class MemoryMapTest : public DoorTest {};

TEST_F(MemoryMapTest, ListsParametersAndBuffersWithoutAWatch) {
  Sequential net = small_net();
  const MemoryMap map(net);
  EXPECT_THAT(names_of(map.parameters()),
              ElementsAre("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"));
  EXPECT_THAT(map.buffers(), IsEmpty());
  const MapEntry& weight = map["fc1.weight"];
  EXPECT_EQ(weight.shape, Shape({3, 4}));
  EXPECT_EQ(weight.dtype, f32);
  EXPECT_EQ(weight.bytes, 48);
  EXPECT_EQ(weight.category, Category::kParameters);
  EXPECT_TRUE(weight.data().is_alias_of(net.parameter("fc1.weight")));
  EXPECT_FALSE(weight.grad().defined());
  EXPECT_EQ(map.bytes(), net.parameter_bytes());
}

TEST_F(MemoryMapTest, ListsWhatLayersWereGivenAndGave) {
  Sequential net = small_net();
  const Watch watch(net);
  const Tensor x = ones({5, 4});
  const Tensor y = net(x);
  const MemoryMap map(net);
  EXPECT_THAT(names_of(map.outputs()),
              ElementsAre("fc1.output", "act.output", "fc2.output", "output"));
  EXPECT_THAT(names_of(map.inputs()),
              ElementsAre("input", "fc1.input", "act.input", "fc2.input"));
  EXPECT_TRUE(map["output"].data().is_alias_of(y));
  EXPECT_EQ(map["output"].held_by, "fc2.output");
  EXPECT_TRUE(map["input"].data().is_alias_of(x));
  EXPECT_EQ(map["fc1.input"].held_by, "input");
  EXPECT_EQ(map["act.input"].held_by, "fc1.output");
  EXPECT_EQ(map["fc2.input"].held_by, "act.output");
  EXPECT_EQ(map.bytes(MapList::kOutputs), (5 * 3 + 5 * 3 + 5 * 2) * 4);
  EXPECT_EQ(map.bytes(MapList::kInputs), 5 * 4 * 4);
}

TEST_F(MemoryMapTest, ShowsWhatTheTapeKeepsUntilBackward) {
  Sequential net = small_net();
  const Watch watch(net);
  {
    const Tensor loss = sum(net(ones({5, 4})));
    const MemoryMap map(net);
    EXPECT_THAT(
        names_of(map.caches()),
        ElementsAre("fc1.cache.linear.input0", "act.cache.tanh.output0",
                    "fc2.cache.linear.input0", "fc2.cache.linear.input1"));
    EXPECT_EQ(map["fc1.cache.linear.input0"].held_by, "input");
    EXPECT_EQ(map["act.cache.tanh.output0"].held_by, "act.output");
    EXPECT_EQ(map["fc2.cache.linear.input1"].held_by, "fc2.weight");
    const Tensor kept = map["act.cache.tanh.output0"].data();
    EXPECT_TRUE(kept.is_alias_of(map["act.output"].data()));
    backward(loss);
    EXPECT_FALSE(map["act.cache.tanh.output0"].data().defined());
  }
  const MemoryMap map(net);
  EXPECT_THAT(map.caches(), IsEmpty());
  EXPECT_THAT(map.layer_caches(), IsEmpty());
}

TEST_F(MemoryMapTest, SumsWhatTheTapeKeepsByLayer) {
  Sequential net(named("fc", Linear(8, 8)), ReLU(), named("out", Linear(8, 8)));
  const Watch watch(net);
  const Tensor y = net(ones({4, 8}));
  const MemoryMap map(net);
  const memory::Vector<LayerCache> layers = map.layer_caches();
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[1].layer, "1");
  EXPECT_EQ(layers[1].depth, 1);
  EXPECT_EQ(layers[1].bytes, 4);  // 32 bits
  EXPECT_EQ(layers[1].own_bytes, 4);
  EXPECT_EQ(layers[2].layer, "out");
  EXPECT_EQ(layers[2].depth, 2);
  EXPECT_EQ(layers[2].bytes, 4 * 8 * 4 + 8 * 8 * 4);
  EXPECT_EQ(layers[2].own_bytes, 0);
}

TEST_F(MemoryMapTest, ListsGradientsAfterBackward) {
  Sequential net = small_net();
  const Tensor x = requires_grad_(ones({5, 4}));
  const Watch watch(net);
  backward(sum(net(x)));
  const MemoryMap map(net);
  const MapEntry& grad = map["fc1.weight.grad"];
  EXPECT_EQ(grad.list, MapList::kGradients);
  EXPECT_EQ(grad.category, Category::kGradients);
  EXPECT_EQ(grad.bytes, 48);
  EXPECT_TRUE(grad.data().is_alias_of(map["fc1.weight"].grad()));
  EXPECT_TRUE(map["input.grad"].data().is_alias_of(x.grad()));
  EXPECT_EQ(map["fc1.input.grad"].held_by, "input.grad");
}

TEST_F(MemoryMapTest, ShowsGradientsOfWhatLayersGaveAndWereGiven) {
  Sequential net = small_net();
  const Watch watch(net);
  backward(sum(net(ones({5, 4}))));
  const MemoryMap map(net);
  EXPECT_THAT(map["fc2.output"].grad().to_vector(), Each(1.0));
  EXPECT_EQ(map["act.output.grad"].shape, Shape({5, 3}));
  EXPECT_EQ(map["fc2.input.grad"].held_by, "act.output.grad");
  EXPECT_EQ(map["output.grad"].held_by, "fc2.output.grad");
  EXPECT_EQ(map.find("input.grad"), nullptr);
}

TEST_F(MemoryMapTest, KeepsNoGradientsOfOutputsUnlessAsked) {
  Sequential net = small_net();
  const Watch watch(net, {.gradients = false});
  backward(sum(net(ones({5, 4}))));
  EXPECT_EQ(MemoryMap(net).gradients().size(), 4U);
}

TEST_F(MemoryMapTest, ShowsNothingThatAScopeGaveBack) {
  Sequential net = small_net();
  const Watch watch(net);
  {
    const memory::Scope scope("forward");
    net(ones({5, 4}));
    EXPECT_EQ(MemoryMap(net).outputs().size(), 4U);
  }
  const MemoryMap map(net);
  EXPECT_THAT(map.outputs(), IsEmpty());
  EXPECT_THAT(map.inputs(), IsEmpty());
  EXPECT_THAT(map.caches(), IsEmpty());
  EXPECT_EQ(map.parameters().size(), 4U);
}

TEST_F(MemoryMapTest, NumbersFurtherCallsOfALayerInOneForward) {
  Twice net;
  const Watch watch(net);
  const Tensor y = net(ones({1, 2}));
  const MemoryMap map(net);
  EXPECT_THAT(names_of(map.outputs()),
              ElementsAre("fc.output", "fc.output#2", "output"));
  EXPECT_EQ(map["fc.input#2"].held_by, "fc.output");
  EXPECT_NE(map.find("fc.cache.linear#2.input0"), nullptr);
}

TEST_F(MemoryMapTest, KeepsTheLastForwardAlone) {
  Sequential net = small_net();
  const Watch watch(net);
  net(ones({5, 4}));
  const Bytes once = domain_->stats().live;
  for (int i = 0; i < 10; ++i) {
    net(ones({5, 4}));
  }
  EXPECT_EQ(domain_->stats().live, once);
  net(ones({1, 4}));
  EXPECT_EQ(MemoryMap(net)["output"].shape, Shape({1, 2}));
  EXPECT_EQ(watch.calls().size(), 4U);
}

TEST_F(MemoryMapTest, TakesACallOfAPartForAnotherOfThatPartAlone) {
  Sequential net = small_net();
  const Watch watch(net);
  for (int i = 1; i <= 3; ++i) {
    net[1](net[0](ones({i, 4})));
  }
  const MemoryMap map(net);
  EXPECT_THAT(names_of(map.outputs()), ElementsAre("fc1.output", "act.output"));
  EXPECT_EQ(map["act.output"].shape, Shape({3, 3}));
  EXPECT_NE(map.find("fc1.cache.linear.input0"), nullptr);
  EXPECT_NE(map.find("act.cache.tanh.output0"), nullptr);
}

TEST_F(MemoryMapTest, KeepsNothingOfAForwardThatFails) {
  Sequential net = small_net();
  const Watch watch(net);
  EXPECT_THROW(net(ones({5, 3})), ShapeError);
  EXPECT_THAT(watch.calls(), IsEmpty());
  net[0](ones({5, 4}));
  EXPECT_THROW(net[2](ones({5, 4})), ShapeError);
  EXPECT_EQ(watch.calls().size(), 1U);
}

TEST_F(MemoryMapTest, SeesNoCacheUnderNoGrad) {
  Sequential net = small_net();
  const Watch watch(net);
  const NoGrad guard;
  net(ones({5, 4}));
  const MemoryMap map(net);
  EXPECT_EQ(map.outputs().size(), 4U);
  EXPECT_THAT(map.caches(), IsEmpty());
}

TEST_F(MemoryMapTest, FindsCachesBelowResultsWithoutAWatch) {
  Sequential net = small_net();
  const std::array losses{sum(net(ones({5, 4}))), sum(net(ones({6, 4})))};
  const MemoryMap map(net, {.results = losses});
  EXPECT_EQ(map.caches().size(), 8U);
  EXPECT_EQ(map["act.cache.tanh#2.output0"].shape, Shape({6, 3}));
  EXPECT_EQ(map.layer_caches()[1].depth, 2);
}

TEST_F(MemoryMapTest, TakesModulesOfAnotherForm) {
  Pair net;
  const Watch watch(net);
  const Tensor b = ones({1, 2});
  net.forward(ones({1, 2}), b);
  const MemoryMap map(net);
  EXPECT_THAT(names_of(map.inputs()),
              ElementsAre("input0", "input1", "fc.input"));
  EXPECT_TRUE(map["input1"].data().is_alias_of(b));
}

TEST_F(MemoryMapTest, SeesAPartWithItsOwnNames) {
  Sequential net(named("body", small_net()), named("head", Linear(2, 2)));
  auto& body = static_cast<Sequential&>(net[0]);
  const Watch watch(net);
  const Tensor y = net(ones({1, 4}));
  const MemoryMap map(body);
  EXPECT_EQ(map.outputs().size(), 4U);
  EXPECT_NE(map.find("act.cache.tanh.output0"), nullptr);
  EXPECT_EQ(map.find("body.output"), nullptr);
  EXPECT_NE(MemoryMap(net).find("body.act.cache.tanh.output0"), nullptr);
}

TEST_F(MemoryMapTest, WatchesWhatIsAddedAndLeavesWhatIsReplaced) {
  Sequential net = small_net();
  const Watch watch(net);
  net.push("more", Linear(2, 2));
  net(ones({1, 4}));
  EXPECT_NE(MemoryMap(net).find("more.output"), nullptr);
  Twice twice;
  const Watch second(twice);
  twice.fc = Linear(2, 2);
  twice(ones({1, 2}));
  EXPECT_NE(MemoryMap(twice).find("fc.output"), nullptr);
  EXPECT_THROW(Watch(twice.fc), ValueError);
}

TEST_F(MemoryMapTest, MakesATiedParameterOneEntryWithTwoNames) {
  Sequential net(named("a", Linear(2, 2)), named("b", Linear(2, 2)));
  net.tie("b.weight", net.parameter("a.weight"));
  const MemoryMap map(net);
  EXPECT_EQ(map.parameters().size(), 3U);
  EXPECT_EQ(&map["b.weight"], &map["a.weight"]);
  EXPECT_THAT(map["a.weight"].aliases, ElementsAre("b.weight"));
}

TEST_F(MemoryMapTest, RefusesTwoThingsOfOneNameAndKeepsWhatItHad) {
  Sequential net = small_net();
  MemoryMap map(net);
  map.add_state("fc1.weight.exp_avg", zeros({3, 4}));
  EXPECT_THROW(map.add_state("fc1.weight.exp_avg", zeros({3, 4})), NameError);
  EXPECT_THROW(map.add_state("fc1.weight", zeros({3, 4})), NameError);
  EXPECT_EQ(map.optimizer_state().size(), 1U);
  EXPECT_EQ(map["fc1.weight"].list, MapList::kParameters);
  EXPECT_EQ(map["fc1.weight.exp_avg"].bytes, 48);
}

// State of which the last has a name that is taken.
struct Clashing {
  Tensor one = ones({2});
  Tensor two = ones({3});
  template <class Visit>
  void visit_state(Visit&& visit) const {
    visit("one", one);
    visit("two", two);
    visit("fc1.bias", one);
  }
};

TEST_F(MemoryMapTest, AddsAllStateOrNone) {
  Sequential net = small_net();
  MemoryMap map(net);
  const Bytes before = map.bytes();
  const Clashing state;
  EXPECT_THROW(map.add_state_of(state), NameError);
  EXPECT_EQ(map.find("one"), nullptr);
  EXPECT_EQ(map.bytes(), before);
  map.add_state("two", state.two);
  EXPECT_FALSE(map["two"].is_shared());
  EXPECT_EQ(map.bytes(), before + 12);
}

TEST_F(MemoryMapTest, EndsAtWhatTheModelWasGiven) {
  Sequential net = small_net();
  const Watch watch(net);
  const Tensor x = requires_grad_(ones({1, 4}));
  const Tensor y = net(neap::tanh(x));
  EXPECT_EQ(MemoryMap(net).caches().size(), 5U);
  EXPECT_EQ(MemoryMap(net).find("cache.tanh.output0"), nullptr);
}

TEST_F(MemoryMapTest, NamesTheNearestWhereANameIsUnknown) {
  Sequential net = small_net();
  const MemoryMap map(net);
  try {
    (void)map["fc1.wait"];
    FAIL();
  } catch (const NameError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no entry \"fc1.wait\"; the nearest: "
                                        "\"fc1.weight\""));
  }
}

TEST_F(MemoryMapTest, WritesALineForEachEntry) {
  Sequential net(named("fc", Linear(8, 4)));
  const Watch watch(net);
  const Tensor y = net(ones({2, 8}));
  EXPECT_EQ(MemoryMap(net).format(),
            "parameters                              144 B\n"
            "  fc.weight               f32   [4, 8]  128 B\n"
            "  fc.bias                 f32   [4]      16 B\n"
            "layer outputs                            32 B\n"
            "  fc.output               f32   [2, 4]   32 B\n"
            "  output                  f32   [2, 4]   32 B  in fc.output\n"
            "layer inputs                             64 B\n"
            "  input                   f32   [2, 8]   64 B\n"
            "  fc.input                f32   [2, 8]   64 B  in input\n"
            "layer caches                              0 B\n"
            "  fc.cache.linear.input0  f32   [2, 8]   64 B  in input\n"
            "all                                     240 B\n");
}

TEST_F(MemoryMapTest, AllowsAnyOrderOfEnds) {
  // Bits say which of model, watch, map, result and input go first.
  for (unsigned order = 0; order < 120; ++order) {
    auto net = std::make_unique<Sequential>(small_net());
    auto watch = std::make_unique<Watch>(*net);
    std::optional<Tensor> x = requires_grad_(ones({5, 4}));
    std::optional<Tensor> y = (*net)(*x);
    if (order % 2 == 0) {
      backward(sum(*y));
    }
    auto map = std::make_unique<MemoryMap>(*net);
    std::vector<std::function<void()>> ends = {
        [&] { net.reset(); }, [&] { watch.reset(); }, [&] { map.reset(); },
        [&] { x.reset(); }, [&] { y.reset(); }};
    unsigned rest = order;
    for (unsigned left = 5; left > 0; --left) {
      const auto chosen = ends.begin() + rest % left;
      rest /= left;
      (*chosen)();
      ends.erase(chosen);
    }
    EXPECT_EQ(domain_->stats().live, 0) << order;
  }
}

TEST_F(MemoryMapTest, FailsWithATypedErrorWhereverMemoryEnds) {
  Sequential net = small_net();
  const Tensor x = ones({5, 4});
  const Bytes before = domain_->stats().live;
  for (int n = 1;; ++n) {
    domain_->fail_at(n);
    try {
      const Watch watch(net);
      const Tensor y = net(x);
      MemoryMap map(net);
      map.add_state("state", x);
      domain_->fail_at(0);
      EXPECT_GT(n, 30);
      break;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      EXPECT_EQ(domain_->stats().live, before) << n;
    }
  }
}

}  // namespace
}  // namespace neap::nn
