// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/cloning.hpp"

#include <gmock/gmock.h>

#include <string>
#include <type_traits>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/embedding.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/norm.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/elementwise/draw.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using memory::Category;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<Sequential>);
static_assert(!std::is_copy_assignable_v<Sequential>);
static_assert(!std::is_copy_constructible_v<ReLU>);
static_assert(std::is_nothrow_move_constructible_v<Sequential>);

// A model that users write: parts, a parameter and a buffer of its own.
class Net : public Module {
 public:
  Linear left{2, 3};
  Linear right{2, 3};
  Net() : scale_(register_parameter("scale", ones({3}))) {
    register_buffer("count", zeros({1}, i64));
    name_parts();
  }
  Net(const Net& other, Cloning& cloning)
      : Module(other, cloning),
        left(other.left, cloning),
        right(other.right, cloning),
        scale_(parameter("scale")) {
    name_parts();
  }
  const Tensor& scale() const { return scale_; }

 private:
  void name_parts() {
    register_module("left", left);
    register_module("right", right);
  }
  Tensor scale_;
};

// Forgets a part.
class Forgetful : public Module {
 public:
  Linear fc{2, 2};
  Forgetful() { register_module("fc", fc); }
  Forgetful(const Forgetful& other, Cloning& cloning)
      : Module(other, cloning), fc(other.fc, cloning) {}
};

// Says nothing of cloning.
class Plain : public Module {
 public:
  Linear left{2, 3};
  Linear right{2, 3};
  explicit Plain(std::int64_t steps = 1)
      : scale_(register_parameter("scale", rand({3}))) {
    register_buffer("count", full({steps}, 7.0));
    register_module("left", left);
    register_module("right", right);
  }
  const Tensor& scale() const { return scale_; }

 private:
  Tensor scale_;
};

class Shift : public Cloneable<Shift> {
 public:
  Shift() : by_(register_parameter("by", rand({2}))) {}
  Tensor forward(const Tensor& x) const override { return x + by_; }

 private:
  Tensor by_;
};

class Double : public Layer {
 public:
  Tensor forward(const Tensor& x) const override { return x; }
};

class Wider : public Linear {
 public:
  Wider() : Linear(2, 2) {}
};

void expect_equal(const Module& a, const Module& b) {
  const ParameterList of_a = a.named_parameters();
  const ParameterList of_b = b.named_parameters();
  ASSERT_EQ(of_a.size(), of_b.size());
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    EXPECT_EQ(of_a[i].name, of_b[i].name);
    EXPECT_EQ(of_a[i].tensor.spec(), of_b[i].tensor.spec());
    EXPECT_FALSE(of_a[i].tensor.is_alias_of(of_b[i].tensor));
    EXPECT_THAT(of_b[i].tensor.to_vector(),
                ElementsAreArray(of_a[i].tensor.to_vector()));
  }
}

template <class Cloner>
bool refuses(const Cloner& cloner) {
  try {
    cloner();
    return false;
  } catch (const ValueError&) {
    return true;
  }
}

class CloningTest : public DoorTest {};

TEST_F(CloningTest, CopiesNamesAndValuesOfEveryLayer) {
  const Sequential net(Linear(4, 3), ReLU(), Tanh(), Sigmoid(), GELU(), SiLU(),
                       Mish(), LeakyReLU(0.5), ELU(2.0), Softplus(3.0),
                       Dropout(0.25), Flatten(), LayerNorm({3}), RMSNorm({3}),
                       named("none", LayerNorm({3}, 1e-5, false)),
                       named("inner", Sequential(Linear(3, 2, false))));
  Sequential copy = net.clone();
  expect_equal(net, copy);
  EXPECT_EQ(copy.size(), net.size());
  EXPECT_EQ(dynamic_cast<Dropout&>(copy[10]).p(), 0.25);
  EXPECT_TRUE(copy.is_training());
}

TEST_F(CloningTest, CopiesAnEmbeddingWithItsPadding) {
  const Embedding table(5, 2, -1);
  const Embedding copy = table.clone();
  expect_equal(table, copy);
  EXPECT_EQ(copy.padding(), 4);
  EXPECT_TRUE(copy.weight().is_alias_of(copy.parameter("weight")));
}

TEST_F(CloningTest, CopiesModelsOfUsers) {
  const Net net;
  const Net copy = clone(net);
  expect_equal(net, copy);
  EXPECT_EQ(copy.scale().identity(), copy.parameter("scale").identity());
  EXPECT_EQ(copy.left.weight().link(), copy.parameter("left.weight").link());
  EXPECT_FALSE(copy.buffer("count").is_alias_of(net.buffer("count")));
  EXPECT_EQ(live(Category::kParameters, "left.weight"), 2 * 24);
  EXPECT_EQ(live(Category::kBuffers, "count"), 2 * 8);
}

TEST_F(CloningTest, MakesAModelAnewThatSaysNothingOfCloning) {
  Plain net;
  net.left.freeze();
  net.right.eval();
  net.tie("right.weight", net.left.weight());
  copy_(net.buffer("count"), full({1}, 9.0));
  const auto draw = tensor::generator().state().draw;
  const Plain copy = clone(net);
  EXPECT_EQ(tensor::generator().state().draw, draw);
  expect_equal(net, copy);
  EXPECT_EQ(copy.scale().identity(), copy.parameter("scale").identity());
  EXPECT_EQ(copy.buffer("count").item(), 9.0);
  EXPECT_FALSE(copy.left.weight().requires_grad());
  EXPECT_TRUE(copy.right.bias().requires_grad());
  EXPECT_FALSE(copy.right.is_training());
  EXPECT_TRUE(copy.left.is_training());
  EXPECT_TRUE(copy.right.weight().is_alias_of(copy.left.weight()));
}

TEST_F(CloningTest, MakesAModelAnewByAFunction) {
  const Plain net(3);
  const Plain copy = clone(net, [] { return Plain(3); });
  expect_equal(net, copy);
  const auto make_tied = [] {
    Plain tied(3);
    tied.tie("right.weight", tied.left.weight());
    return tied;
  };
  EXPECT_TRUE(refuses([&] { (void)clone(net); }));  // Plain(): another buffer
  EXPECT_TRUE(refuses([&] { (void)clone(net, make_tied); }));
}

// A part that a flag of the constructor adds.
class Optional : public Module {
 public:
  Dropout drop{0.5};
  Linear fc{2, 2};
  explicit Optional(bool has_drop = false) {
    if (has_drop) {
      register_module("drop", drop);
    }
    register_module("fc", fc);
  }
};

// Freezes a part, ties buffers, and leaves gradients behind.
class Stubborn : public Module {
 public:
  Linear fc{2, 2};
  explicit Stubborn(bool ties = false) {
    register_module("fc", fc);
    backward(sum(fc(ones({1, 2}))));
    fc.freeze();
    const Tensor x = register_buffer("x", zeros({1}));
    register_buffer("y", ties ? x : zeros({1}));
  }
};

TEST_F(CloningTest, TakesModesOverByTheNamesOfParts) {
  Optional net(true);
  net.drop.eval();
  EXPECT_THROW((void)clone(net), ValueError);  // Optional() has no "drop"
  const Optional copy = clone(net, [] { return Optional(true); });
  EXPECT_FALSE(copy.drop.is_training());
  EXPECT_TRUE(copy.fc.is_training());
}

TEST_F(CloningTest, UnfreezesWhatTheModelHasUnfrozenAndDropsGradients) {
  Stubborn net;
  net.unfreeze();
  const Stubborn copy = clone(net);
  EXPECT_TRUE(copy.fc.weight().requires_grad());
  EXPECT_FALSE(copy.fc.weight().grad().defined());
}

TEST_F(CloningTest, RefusesBuffersThatAreOneTensorInOneOfTheTwo) {
  const auto make_tied = [] { return Stubborn(true); };
  EXPECT_TRUE(refuses([] { (void)clone(Stubborn(true)); }));
  EXPECT_TRUE(refuses([&] { (void)clone(Stubborn(), make_tied); }));
}

TEST_F(CloningTest, KeepsTiesBetweenALayerThatIsMadeAnewAndOthers) {
  Sequential net(named("fc", Linear(2, 2)), named("a", Shift()),
                 named("b", Shift()));
  net.tie("a.by", net.parameter("fc.bias"));
  net.tie("b.by", net.parameter("a.by"));
  const Sequential copy = net.clone();
  expect_equal(net, copy);
  EXPECT_EQ(copy.parameter("a.by").link(), copy.parameter("fc.bias").link());
  EXPECT_EQ(copy.parameter("b.by").link(), copy.parameter("fc.bias").link());
}

TEST_F(CloningTest, MakesALayerOfASequentialAnew) {
  const Sequential net(Shift(), Linear(2, 2));
  const Sequential copy = net.clone();
  expect_equal(net, copy);
  const Shift shift;
  expect_equal(shift, shift.clone());
}

TEST_F(CloningTest, LeavesTheTwoIndependent) {
  const Linear fc(2, 2);
  Linear copy = fc.clone();
  const double before = fc.weight().at({0, 0});
  Tensor weight = copy.weight();
  weight.mutable_values<float>()[0] = 100.0F;
  EXPECT_EQ(fc.weight().at({0, 0}), before);
  backward(sum(copy(ones({1, 2}))));
  EXPECT_TRUE(copy.weight().grad().defined());
  EXPECT_FALSE(fc.weight().grad().defined());
}

TEST_F(CloningTest, CopiesModesAndFrozenParametersAndNoGradients) {
  Net net;
  net.left.freeze();
  net.right.eval();
  set_grad(net.scale(), ones({3}));
  const Net copy = clone(net);
  EXPECT_FALSE(copy.left.weight().requires_grad());
  EXPECT_TRUE(copy.right.weight().requires_grad());
  EXPECT_TRUE(copy.is_training());
  EXPECT_FALSE(copy.right.is_training());
  EXPECT_FALSE(copy.scale().grad().defined());
}

TEST_F(CloningTest, KeepsTiesInEitherDirection) {
  for (const bool forward : {true, false}) {
    Net net;
    if (forward) {
      net.tie("right.weight", net.left.weight());
    } else {
      net.tie("left.weight", net.right.weight());
    }
    const Bytes before = domain_->stats().live;
    const Net copy = clone(net);
    expect_equal(net, copy);
    EXPECT_EQ(copy.left.weight().link(), copy.right.weight().link());
    EXPECT_TRUE(copy.left.weight().is_alias_of(copy.right.weight()));
    EXPECT_EQ(copy.parameter_bytes(), net.parameter_bytes());
    EXPECT_EQ(copy.parameters()[1].name, net.parameters()[1].name);
    EXPECT_GT(domain_->stats().live, before);
    const char* home = forward ? "left.weight" : "right.weight";
    EXPECT_EQ(live(Category::kParameters, home), 2 * 24);
  }
}

TEST_F(CloningTest, MakesAPartThatIsTiedToTheRestItsOwnHome) {
  Net net;
  net.tie("left.weight", net.right.weight());
  const Linear copy = net.left.clone();
  EXPECT_FALSE(copy.weight().is_alias_of(net.right.weight()));
  EXPECT_FALSE(copy.registry().entries()[0].is_tied);
  EXPECT_EQ(live(Category::kParameters, "weight"), 24);
}

TEST_F(CloningTest, RefusesLayersThatCannotBeCloned) {
  Sequential net(named("double", Double()));
  try {
    (void)net.clone();
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"double\", is not nn::Cloneable"));
  }
  const Wider wider;
  EXPECT_THROW((void)wider.clone(), ValueError);
  Sequential holder;
  holder.push(Wider());
  EXPECT_THROW((void)holder.clone(), ValueError);
}

TEST_F(CloningTest, RefusesACopyThatLacksAName) {
  const Forgetful net;
  try {
    (void)clone(net);
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no \"fc.weight\""));
  }
}

TEST_F(CloningTest, CopiesALayerOfUnknownType) {
  const Linear fc(2, 2);
  const Layer& layer = fc;
  const memory::Owned<Layer> copy = clone_layer(layer);
  expect_equal(fc, *copy);
}

TEST_F(CloningTest, AllocatesInTheDomainOfTheContext) {
  const Linear fc(2, 2);
  const memory::Domain::Handle other = memory::Domain::create();
  const Bytes before = domain_->stats().live;
  {
    const memory::UseDomain use(*other);
    const Linear copy = fc.clone();
    EXPECT_GT(other->stats().live, fc.parameter_bytes());
    expect_equal(fc, copy);
  }
  EXPECT_EQ(other->stats().live, 0);
  EXPECT_EQ(domain_->stats().live, before);
}

TEST_F(CloningTest, LeavesNothingWhereMemoryEnds) {
  Net net;
  net.tie("left.weight", net.right.weight());
  const Bytes before = domain_->stats().live;
  for (int n = 1;; ++n) {
    domain_->fail_at(n);
    try {
      const Net copy = clone(net);
      domain_->fail_at(0);
      EXPECT_GT(n, 20);
      break;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      EXPECT_EQ(domain_->stats().live, before) << n;
    }
  }
}

}  // namespace
}  // namespace neap::nn
