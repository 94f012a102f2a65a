// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows A: a network whose memory is laid out by name (awnn).
#include <memory>
#include <optional>
#include <type_traits>

#include "support.hpp"

namespace neap::four_systems {
namespace {

using models::Mlp;
using nn::MapEntry;
using nn::MemoryMap;
using ::testing::ElementsAreArray;

constexpr std::array<std::int64_t, 3> kWidths{6, 5, 3};

std::vector<std::string> names(std::span<const MapEntry> entries) {
  std::vector<std::string> out;
  for (const MapEntry& entry : entries) {
    out.emplace_back(entry.name);
  }
  return out;
}

Tensor labels() {
  return from_values({0, 1, 2, 1}, {4}, i64);
}

// --- A1: four lists, by name ------------------------------------------------

TEST(FourSystemsTest, ListsParametersOutputsInputsAndCachesByName_A1) {
  Mlp model(kWidths);
  const nn::Watch watch(model);
  const Tensor loss = cross_entropy(model(ones({4, 6})), labels());
  const MemoryMap map(model);
  EXPECT_THAT(names(map.parameters()),
              ElementsAre("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"));
  EXPECT_THAT(names(map.outputs()),
              ElementsAre("fc1.output", "fc2.output", "output"));
  EXPECT_THAT(names(map.inputs()),
              ElementsAre("input", "fc1.input", "fc2.input"));
  EXPECT_THAT(
      names(map.caches()),
      ElementsAre("fc1.cache.linear.input0", "cache.relu_bits.output1",
                  "fc2.cache.linear.input0", "fc2.cache.linear.input1"));
}

TEST(FourSystemsTest,
     EntriesHaveNameShapeBytesCategoryAndViewsOfDataAndGradient_A1) {
  Mlp model(kWidths);
  const nn::Watch watch(model);
  backward(cross_entropy(model(ones({4, 6})), labels()));
  const MemoryMap map(model);
  const MapEntry& weight = map["fc1.weight"];
  EXPECT_EQ(weight.name, "fc1.weight");
  EXPECT_EQ(weight.shape, Shape({5, 6}));
  EXPECT_EQ(weight.dtype, f32);
  EXPECT_EQ(weight.bytes, 5 * 6 * 4);
  EXPECT_EQ(weight.category, memory::Category::kParameters);
  EXPECT_TRUE(weight.data().is_alias_of(model.parameter("fc1.weight")));
  EXPECT_TRUE(weight.grad().is_alias_of(model.parameter("fc1.weight").grad()));
  EXPECT_EQ(map["fc1.weight.grad"].category, memory::Category::kGradients);
  const MapEntry& output = map["fc1.output"];
  EXPECT_EQ(output.category, memory::Category::kActivations);
  EXPECT_EQ(output.grad().shape(), Shape({4, 5}));
  EXPECT_TRUE(map["fc1.output.grad"].data().is_alias_of(output.grad()));
}

TEST(FourSystemsTest, BytesOfTheListsAreTheLedgers_A1) {
  Mlp model(kWidths);
  optim::Adam adam(model.parameters());
  backward(cross_entropy(model(ones({4, 6})), labels()));
  adam.step();
  MemoryMap map(model);
  map.add_state_of(adam);
  EXPECT_EQ(map.bytes(nn::MapList::kParameters),
            live_of(memory::Category::kParameters));
  EXPECT_EQ(map.bytes(nn::MapList::kGradients),
            live_of(memory::Category::kGradients));
  EXPECT_EQ(map.bytes(nn::MapList::kOptimizerState),
            live_of(memory::Category::kOptimizerState));
  EXPECT_EQ(map["fc2.bias.exp_avg_sq"].shape, Shape({3}));
}

TEST(FourSystemsTest, RefusesDuplicatesAndNamesTheNearestOfUnknownNames_A1) {
  Mlp model(kWidths);
  MemoryMap map(model);
  EXPECT_THROW(map.add_state("fc1.weight", ones({1})), NameError);
  EXPECT_EQ(map.find("fc1.wait"), nullptr);
  EXPECT_THAT(refusal<NameError>([&] { (void)map["fc1.wait"]; }),
              HasSubstr("\"fc1.weight\""));
}

TEST(FourSystemsTest, ATiedParameterIsOneEntryWithTwoNames_A1) {
  nn::Sequential model(nn::named("encode", nn::Linear(4, 4)),
                       nn::named("decode", nn::Linear(4, 4)));
  model.tie("decode.weight", model.parameter("encode.weight"));
  const MemoryMap map(model);
  EXPECT_EQ(map.parameters().size(), 3U);
  EXPECT_EQ(&map["decode.weight"], &map["encode.weight"]);
  EXPECT_THAT(map["encode.weight"].aliases, ElementsAre("decode.weight"));
  EXPECT_EQ(map.bytes(), (4 * 4 + 4 + 4) * 4);
}

// --- A3: inputs are views of one block with one owner -----------------------

TEST(FourSystemsTest, AnInputIsTheOutputBelowAndHasNoBytesOfItsOwn_A3) {
  nn::Sequential model(nn::named("fc1", nn::Linear(6, 5)),
                       nn::named("relu", nn::ReLU()),
                       nn::named("fc2", nn::Linear(5, 3)));
  const nn::Watch watch(model);
  const Tensor x = ones({4, 6});
  const Tensor y = model(x);
  const MemoryMap map(model);
  EXPECT_EQ(map["relu.input"].held_by, "fc1.output");
  EXPECT_EQ(map["fc2.input"].held_by, "relu.output");
  EXPECT_EQ(map["fc1.input"].held_by, "input");
  EXPECT_TRUE(map["input"].data().is_alias_of(x));
  EXPECT_EQ(map.bytes(nn::MapList::kInputs), 4 * 6 * 4);
}

TEST(FourSystemsTest, DestroyingInAnyOrderIsRight_A3) {
  const Bytes before = live();
  for (unsigned order = 0; order < 720; ++order) {
    auto model = std::make_unique<Mlp>(kWidths);
    auto watch = std::make_unique<nn::Watch>(*model);
    std::optional<Tensor> x = requires_grad_(ones({4, 6}));
    std::optional<Tensor> y = (*model)(*x);
    backward(cross_entropy(*y, labels()));
    std::optional<Tensor> grad = x->grad();
    auto map = std::make_unique<MemoryMap>(*model);
    std::vector<std::function<void()>> ends{
        [&] { model.reset(); }, [&] { watch.reset(); }, [&] { map.reset(); },
        [&] { x.reset(); },     [&] { y.reset(); },     [&] { grad.reset(); }};
    unsigned rest = order;
    while (!ends.empty()) {
      const auto left = static_cast<unsigned>(ends.size());
      const auto chosen = ends.begin() + rest % left;
      rest /= left;
      (*chosen)();
      ends.erase(chosen);
      if (x) {
        EXPECT_EQ(x->at({3, 5}), 1.0);
      }
      if (grad) {
        EXPECT_EQ(grad->shape(), Shape({4, 6}));
      }
    }
    ASSERT_EQ(live(), before) << order;
  }
}

TEST(FourSystemsTest, TheFirstInputsGradientOutlivesTheModel_A3) {
  Tensor grad;
  {
    Mlp model(kWidths);
    const nn::Watch watch(model);
    const Tensor x = requires_grad_(ones({4, 6}));
    backward(cross_entropy(model(x), labels()));
    grad = MemoryMap(model)["input"].grad();
  }
  EXPECT_EQ(grad.shape(), Shape({4, 6}));
  EXPECT_NE(grad.at({0, 0}), 0.0);
}

// --- A4: caches are a view of the tape --------------------------------------

TEST(FourSystemsTest, ShowsNamesBytesAndDepthOfWhatTheTapeKeepsForALayer_A4) {
  nn::Sequential model(nn::named("fc1", nn::Linear(6, 5)),
                       nn::named("relu", nn::ReLU()),
                       nn::named("fc2", nn::Linear(5, 3)));
  const nn::Watch watch(model);
  const Tensor y = model(ones({4, 6}));
  const auto caches = MemoryMap(model).layer_caches();
  ASSERT_EQ(caches.size(), 3U);
  EXPECT_EQ(caches[0].layer, "fc1");
  EXPECT_EQ(caches[0].depth, 1);
  EXPECT_EQ(caches[0].bytes, 4 * 6 * 4);
  EXPECT_EQ(caches[0].own_bytes, 0);  // the model's input, kept
  EXPECT_EQ(caches[1].layer, "relu");
  EXPECT_EQ(caches[1].bytes, 3);  // a bit for each of 20 elements
  EXPECT_EQ(caches[1].own_bytes, 3);
  EXPECT_EQ(caches[2].depth, 2);
  EXPECT_EQ(MemoryMap(model)["fc2.cache.linear.input1"].held_by, "fc2.weight");
}

TEST(FourSystemsTest, IsEmptyAfterBackwardUnderAMapThatIsKept_A4) {
  Mlp model(kWidths);
  const nn::Watch watch(model);
  const Tensor loss = cross_entropy(model(ones({4, 6})), labels());
  const MemoryMap before(model);
  EXPECT_TRUE(before["cache.relu_bits.output1"].data().defined());
  backward(loss);
  EXPECT_FALSE(before["cache.relu_bits.output1"].data().defined());
  EXPECT_THAT(MemoryMap(model).caches(), IsEmpty());
}

TEST(FourSystemsTest, InferenceLeavesNothing_A4) {
  Mlp model(kWidths);
  const nn::Watch watch(model);
  const NoGrad guard;
  model(ones({4, 6}));
  EXPECT_THAT(MemoryMap(model).caches(), IsEmpty());
}

TEST(FourSystemsTest, AnyNumberOfForwardsWithoutBackwardIsRight_A4) {
  Mlp model(kWidths);
  const nn::Watch watch(model);
  Tensor y = model(ones({4, 6}));
  const Bytes once = live();
  for (int i = 0; i < 100; ++i) {
    y = model(ones({4, 6}));
  }
  EXPECT_EQ(live(), once);
  EXPECT_EQ(MemoryMap(model).caches().size(), 4U);
  backward(cross_entropy(y, labels()));
  EXPECT_TRUE(model.parameter("fc1.weight").grad().defined());
}

TEST(FourSystemsTest, ShowsSeveralForwardsThatAreKept_A4) {
  Mlp model(kWidths);
  const Tensor x = ones({4, 6});
  const std::array results{model(x), model(x), model(x)};
  const MemoryMap map(model, {.results = results});
  EXPECT_EQ(map.layer_caches().front().depth, 3);
  EXPECT_NE(map.find("fc1.cache.linear#3.input0"), nullptr);
}

// --- A5: a parameter by name ------------------------------------------------

TEST(FourSystemsTest, ReturnsDataAndGradientOfAParameterByName_A5) {
  Mlp model(kWidths);
  backward(cross_entropy(model(ones({4, 6})), labels()));
  EXPECT_EQ(model.parameter("fc1.weight").values<float>().size(), 30U);
  EXPECT_EQ(model.parameter("fc1.weight").grad().shape(), Shape({5, 6}));
}

TEST(FourSystemsTest, NamesTheNearestWhereThereIsNone_A5) {
  const Mlp model(kWidths);
  EXPECT_EQ(
      refusal<NameError>([&] { (void)model.parameter("fc1.wieght"); }),
      "parameter: no parameter \"fc1.wieght\"; the nearest: \"fc1.weight\", "
      "\"fc2.weight\", \"fc1.bias\"");
}

// --- A9: an update leaves gradients intact, or gives them back --------------

TEST(FourSystemsTest, AnUpdateLeavesGradientsAsTheyWere_A9) {
  Mlp model(kWidths);
  optim::SGD sgd(model.parameters(), {.lr = 0.1, .weight_decay = 0.1});
  backward(cross_entropy(model(ones({4, 6})), labels()));
  const Tensor grad = model.parameter("fc2.weight").grad();
  const std::vector<double> before = numbers(grad);
  sgd.step({.grad_scale = 0.5});
  EXPECT_TRUE(grad.is_alias_of(model.parameter("fc2.weight").grad()));
  EXPECT_EQ(numbers(grad), before);
}

TEST(FourSystemsTest, AnUpdateFreesGradientsWhenTold_A9) {
  Mlp model(kWidths);
  Mlp other = model.clone();
  const auto train = [](Mlp& net, bool release) {
    optim::Adam adam(net.parameters());
    backward(cross_entropy(net(ones({4, 6})), labels()));
    adam.step({.release_gradients = release});
  };
  train(model, true);
  EXPECT_EQ(live_of(memory::Category::kGradients), 0);
  EXPECT_FALSE(model.parameter("fc1.weight").grad().defined());
  train(other, false);
  EXPECT_THAT(numbers(model.parameter("fc1.weight")),
              ElementsAreArray(numbers(other.parameter("fc1.weight"))));
}

// --- A10: models move, and are cloned on purpose ----------------------------

static_assert(!std::is_copy_constructible_v<Mlp>);
static_assert(!std::is_copy_assignable_v<Mlp>);
static_assert(!std::is_copy_constructible_v<nn::Sequential>);
static_assert(!std::is_copy_constructible_v<nn::Linear>);
static_assert(std::is_nothrow_move_constructible_v<Mlp>);

Mlp make_model() {
  Mlp model(kWidths);
  return model;
}

TEST(FourSystemsTest, AModelThatMovesKeepsEveryNameListAndView_A10) {
  std::vector<Mlp> stored;
  stored.push_back(make_model());
  const Tensor weight = stored[0].parameter("fc1.weight");
  const nn::Watch watch(stored[0]);
  const Tensor y = stored[0](ones({4, 6}));
  const MemoryMap before(stored[0]);
  for (int i = 0; i < 4; ++i) {
    stored.push_back(make_model());
  }
  Mlp moved = std::move(stored[0]);
  EXPECT_TRUE(moved.parameter("fc1.weight").is_alias_of(weight));
  EXPECT_TRUE(before["fc1.weight"].data().is_alias_of(weight));
  const MemoryMap after(moved);
  EXPECT_EQ(names(after.entries()), names(before.entries()));
  EXPECT_TRUE(after["output"].data().is_alias_of(y));
  moved(ones({2, 6}));
  EXPECT_EQ(MemoryMap(moved)["output"].shape, Shape({2, 3}));
}

TEST(FourSystemsTest, ACloneIsDeep_A10) {
  Mlp model(kWidths, {.dropout = 0.5});
  model.eval();
  optim::Adam adam(model.parameters());
  backward(cross_entropy(model(ones({4, 6})), labels()));
  adam.step();
  const Bytes parameters = live_of(memory::Category::kParameters);
  Mlp copy = model.clone();
  EXPECT_EQ(live_of(memory::Category::kParameters), 2 * parameters);
  EXPECT_EQ(names(MemoryMap(copy).parameters()),
            names(MemoryMap(model).parameters()));
  EXPECT_FALSE(copy.is_training());
  const Tensor x = ones({4, 6});
  EXPECT_EQ(numbers(copy(x)), numbers(model(x)));
  const std::vector<double> before = numbers(model(x));
  Tensor bias = copy.parameter("fc2.bias");
  bias.mutable_values<float>()[0] += 1.0F;
  EXPECT_EQ(numbers(model(x)), before);
  EXPECT_FALSE(copy.parameter("fc1.weight").grad().defined());
}

TEST(FourSystemsTest, ACloneKeepsTiesAndBuffersInTheDomainAsked_A10) {
  nn::Sequential model(nn::named("a", nn::Linear(3, 3)),
                       nn::named("inner", nn::Sequential(nn::Linear(3, 3))));
  model.tie("inner.0.weight", model.parameter("a.weight"));
  const auto door = Domain::create({.name = "other"});
  {
    const UseDomain use(*door);
    const nn::Sequential copy = model.clone();
    EXPECT_EQ(copy.parameters()[0].aliases.size(), 1U);
    EXPECT_EQ(copy.parameter_bytes(), model.parameter_bytes());
    EXPECT_EQ(live_of(memory::Category::kParameters), model.parameter_bytes());
  }
  EXPECT_EQ(door->stats().live, 0);
}

// --- N7, as far as models go: memory that ends is an error and nothing more -

TEST(FourSystemsTest,
     MappingAndCloningFailWithATypedErrorAndLeaveEverythingAsItWas_N7) {
  Mlp model(kWidths);
  const Tensor x = ones({4, 6});
  const Bytes before = live();
  for (int n = 1;; ++n) {
    memory::domain().fail_at(n);
    try {
      const nn::Watch watch(model);
      const Tensor loss = cross_entropy(model(x), labels());
      const MemoryMap map(model, {.results = std::span(&loss, 1)});
      const Mlp copy = model.clone();
      memory::domain().fail_at(0);
      EXPECT_GT(n, 60);
      break;
    } catch (const OutOfMemory&) {
      memory::domain().fail_at(0);
      ASSERT_EQ(live(), before) << n;
    }
  }
}

}  // namespace
}  // namespace neap::four_systems
