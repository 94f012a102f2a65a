// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/module.hpp"

#include <gmock/gmock.h>
#include <pthread.h>

#include <functional>
#include <string>
#include <type_traits>

#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using memory::Category;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<Linear>);
static_assert(!std::is_copy_assignable_v<Linear>);
static_assert(std::is_nothrow_move_constructible_v<Linear>);

// A parameter, "w", of three numbers.
class Part : public Module {
 public:
  Part() : w_(register_parameter("w", ones({3}))) {}
  using Module::register_buffer;
  using Module::register_module;
  using Module::register_parameter;
  const Tensor& w() const { return w_; }

 private:
  Tensor w_;
};

struct Net : Part {
  Part left;
  Part right;
  Net() {
    register_module("left", left);
    register_module("right", right);
  }
};

Net make_net() {
  Net net;
  net.register_buffer("count", zeros({2}, i64));
  return net;
}

std::vector<std::string> names_of(const ParameterList& list) {
  std::vector<std::string> names;
  for (const Parameter& parameter : list) {
    names.emplace_back(parameter.name);
  }
  return names;
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

class ModuleTest : public DoorTest {};

TEST_F(ModuleTest, ListsParametersByPathInOrderOfRegistration) {
  const Net net;
  EXPECT_THAT(names_of(net.parameters()),
              ElementsAre("w", "left.w", "right.w"));
}

TEST_F(ModuleTest, KeepsEveryNameWhenMovedReturnedAndStored) {
  memory::Vector<Net> stored;
  for (int i = 0; i < 5; ++i) {
    stored.push_back(make_net());
  }
  for (const Net& net : stored) {
    EXPECT_THAT(names_of(net.parameters()),
                ElementsAre("w", "left.w", "right.w"));
    EXPECT_EQ(net.parameter("left.w").identity(), net.left.w().identity());
  }
}

// Bytes that others lie on too keep the label that they have.
TEST_F(ModuleTest, APartOfALargerTensorLabelsNothingElse) {
  const Tensor all = ones({100});
  Part part;
  part.register_parameter("tail", slice(all, 0, 90, 100));
  part.register_parameter("head", slice(all, 0, 0, 10));
  EXPECT_EQ(all.array()->storage()->tag().category, Category::kOther);
}

TEST_F(ModuleTest, PutsAChildThatIsAssignedInThePlaceOfTheOldOne) {
  Net net;
  Part other;
  const void* fresh = other.w().identity();
  net.left = std::move(other);
  EXPECT_EQ(net.parameter("left.w").identity(), fresh);
  EXPECT_THAT(names_of(net.parameters()),
              ElementsAre("w", "left.w", "right.w"));
  EXPECT_EQ(live(Category::kParameters, "left.w"), 12);
}

TEST_F(ModuleTest, TakesAWholeModelByAssignment) {
  Net net;
  Net other;
  const void* left = other.left.w().identity();
  net = std::move(other);
  EXPECT_EQ(net.parameter("left.w").identity(), left);
  EXPECT_EQ(net.left.w().identity(), left);
  EXPECT_THROW((void)other.parameters(), UseAfterRelease);
}

TEST_F(ModuleTest, RefusesAChildOfAnotherInItsPlace) {
  Net net;
  Net other;
  EXPECT_THROW(net.left = std::move(other.left), ValueError);
  EXPECT_THAT(names_of(net.parameters()),
              ElementsAre("w", "left.w", "right.w"));
}

TEST_F(ModuleTest, RefusesNamesThatAreTakenEmptyOrHaveADot) {
  Part part;
  Part child;
  EXPECT_THROW(part.register_parameter("w", ones({1})), NameError);
  EXPECT_THROW(part.register_buffer("w", ones({1})), NameError);
  EXPECT_THROW(part.register_module("w", child), NameError);
  EXPECT_THROW(part.register_parameter("", ones({1})), NameError);
  EXPECT_THROW(part.register_parameter("a.b", ones({1})), NameError);
  EXPECT_THAT(names_of(part.parameters()), ElementsAre("w"));
}

TEST_F(ModuleTest, RefusesToHoldItselfOrAChildOfAnother) {
  Part top;
  Part middle;
  Part other;
  top.register_module("middle", middle);
  EXPECT_THROW(top.register_module("self", top), ValueError);
  EXPECT_THROW(middle.register_module("top", top), ValueError);
  EXPECT_THROW(other.register_module("middle", middle), ValueError);
}

TEST_F(ModuleTest, NamesTheNearestParametersWhenOneIsUnknown) {
  const Net net;
  EXPECT_THAT(message_of([&] { (void)net.parameter("lef.w"); }),
              HasSubstr("no parameter \"lef.w\"; the nearest: \"left.w\""));
  EXPECT_THAT(message_of([&] { (void)net.buffer("n"); }),
              HasSubstr("no buffer \"n\", the module has none"));
  EXPECT_FALSE(net.has_parameter("left"));
  EXPECT_TRUE(net.has_parameter("right.w"));
}

TEST_F(ModuleTest, ListsATiedParameterOnceWithAllItsNames) {
  Net net;
  net.tie("right.w", net.left.w());
  const ParameterList list = net.parameters();
  EXPECT_THAT(names_of(list), ElementsAre("w", "left.w"));
  EXPECT_THAT(list[1].aliases, ElementsAre("right.w"));
  EXPECT_THAT(names_of(net.named_parameters()),
              ElementsAre("w", "left.w", "right.w"));
  EXPECT_EQ(net.parameter_count(), 6);
  EXPECT_EQ(net.parameter_bytes(), 24);
}

TEST_F(ModuleTest, FreesTheBytesOfATiedParameterAndSharesTheOthers) {
  Net net;
  net.tie("left.w", net.right.w());
  EXPECT_EQ(live(Category::kParameters, "left.w"), 0);
  EXPECT_EQ(live(Category::kParameters, "right.w"), 12);
  Tensor handle = net.right.w();
  handle.mutable_values<float>()[0] = 5.0F;
  EXPECT_EQ(net.left.w().at({0}), 5.0);
  EXPECT_THAT(names_of(net.parameters()), ElementsAre("w", "right.w"));
}

TEST_F(ModuleTest, RefusesToTieWhatDoesNotFit) {
  Net net;
  EXPECT_THROW(net.tie("left.w", ones({3})), GraphError);
  EXPECT_THROW(net.tie("left.w", requires_grad_(ones({4}))), ShapeError);
  EXPECT_THROW(net.tie("left.w", requires_grad_(ones({3}, f64))), DTypeError);
  EXPECT_THROW(net.tie("left.v", net.w()), NameError);
}

TEST_F(ModuleTest, CountsBytesUnderFullPathsOnceAdded) {
  Part top;
  Net net = make_net();
  EXPECT_EQ(live(Category::kParameters, "left.w"), 12);
  top.register_module("net", net);
  EXPECT_EQ(live(Category::kParameters, "left.w"), 0);
  EXPECT_EQ(live(Category::kParameters, "net.left.w"), 12);
  EXPECT_EQ(live(Category::kBuffers, "net.count"), 16);
  const auto& leaf = static_cast<graph::Leaf&>(*net.left.w().link());
  EXPECT_EQ(domain_->path_of(leaf.owner()), "net.left.w");
}

TEST_F(ModuleTest, CountsATiedParameterUnderItsHomeWhenAdded) {
  Part top;
  Net net;
  net.tie("right.w", net.left.w());
  top.register_module("net", net);
  EXPECT_EQ(live(Category::kParameters, "net.left.w"), 12);
  EXPECT_EQ(live(Category::kParameters, "net.right.w"), 0);
}

TEST_F(ModuleTest, KeepsTheLabelOfAStorageThatHoldsMore) {
  Part part;
  const Tensor flat = zeros({8});
  tensor::Layout layout = tensor::sliced(flat.array()->layout(), 0, 2, 5, 1);
  part.register_parameter(
      "view", Tensor(tensor::Array::make(flat.array()->storage(), layout)));
  EXPECT_EQ(live(Category::kOther, ""), 32);
  const auto& leaf = static_cast<graph::Leaf&>(*part.parameter("view").link());
  EXPECT_EQ(domain_->path_of(leaf.owner()), "view");
}

TEST_F(ModuleTest, SwitchesModeOfTheWholeTree) {
  Net net;
  EXPECT_TRUE(net.right.is_training());
  net.eval();
  EXPECT_FALSE(net.is_training());
  EXPECT_FALSE(net.right.is_training());
  net.train();
  EXPECT_TRUE(net.left.is_training());
}

TEST_F(ModuleTest, FreezesAndUnfreezesAndFreesGradients) {
  Net net;
  set_grad(net.left.w(), ones({3}));
  net.freeze();
  EXPECT_FALSE(net.left.w().requires_grad());
  EXPECT_FALSE(net.left.w().grad().defined());
  net.unfreeze();
  EXPECT_TRUE(net.left.w().requires_grad());
  set_grad(net.w(), ones({3}));
  net.zero_grad();
  EXPECT_FALSE(net.w().grad().defined());
}

TEST_F(ModuleTest, RefusesParametersThatCannotBeLeaves) {
  Part part;
  EXPECT_THROW(part.register_parameter("n", ones({1}, i64)), DTypeError);
  EXPECT_THROW(part.register_parameter("u", Tensor()), UseAfterRelease);
  EXPECT_THROW(part.register_buffer("b", requires_grad_(ones({1}))),
               GraphError);
  EXPECT_THAT(names_of(part.parameters()), ElementsAre("w"));
}

TEST_F(ModuleTest, IsAsBeforeWhereverAddingFails) {
  Part top;
  Net net = make_net();
  const Bytes before = domain_->stats().live;
  for (int n = 1;; ++n) {
    domain_->fail_at(n);
    try {
      top.register_module("net", net);
      domain_->fail_at(0);
      EXPECT_GT(n, 5);
      break;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      EXPECT_EQ(live(Category::kParameters, "left.w"), 12) << n;
      EXPECT_EQ(live(Category::kBuffers, "count"), 16) << n;
      EXPECT_THAT(names_of(top.parameters()), ElementsAre("w")) << n;
      EXPECT_LE(domain_->stats().live - before, 256) << n;  // a list's room
    }
  }
  EXPECT_EQ(live(Category::kParameters, "net.left.w"), 12);
}

TEST_F(ModuleTest, IsAsBeforeWhereverRegisteringFails) {
  Part part;
  const Tensor init = ones({5});
  for (int n = 1;; ++n) {
    domain_->fail_at(n);
    try {
      part.register_parameter("v", init);
      domain_->fail_at(0);
      EXPECT_GT(n, 2);
      break;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      EXPECT_FALSE(init.requires_grad()) << n;
      EXPECT_EQ(live(Category::kOther, ""), 20) << n;
      EXPECT_THAT(names_of(part.parameters()), ElementsAre("w")) << n;
    }
  }
  EXPECT_TRUE(init.requires_grad());
}

// Runs `act` on a thread with a stack of 64 KiB.
void on_small_stack(void (*act)(memory::Domain*), memory::Domain* domain) {
  struct Call {
    void (*act)(memory::Domain*);
    memory::Domain* domain;
  } call{act, domain};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* data) -> void* {
                  const auto* c = static_cast<Call*>(data);
                  c->act(c->domain);
                  return nullptr;
                },
                &call),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_F(ModuleTest, WalksAndEndsADeepChainOnASmallStack) {
  on_small_stack(
      [](memory::Domain* domain) {
        constexpr int kDepth = 3000;
        const memory::UseDomain use(*domain);
        const base::Ref<Registry> top = Registry::make();
        base::Ref<Registry> last = top;
        for (int i = 0; i < kDepth; ++i) {
          base::Ref<Registry> next = Registry::make();
          last->add_child("a", next);
          last = std::move(next);
        }
        int count = 0;
        top->walk([&count](const Registry&) { ++count; });
        EXPECT_EQ(count, kDepth + 1);
        EXPECT_EQ(last->path_from(*top).size(), 2 * kDepth - 1);
      },
      domain_.get());
}

TEST_F(ModuleTest, ParametersAndBuffersLeaveTheScopeTheyWereMadeIn) {
  auto model = std::make_unique<Part>();
  {
    Scope scope;
    model = std::make_unique<Part>();
    model->register_buffer("steps", zeros({1}));
    EXPECT_EQ(scope.size(), 0);
  }
  EXPECT_EQ(model->w().at({2}), 1.0);
  EXPECT_EQ(model->buffer("steps").at({0}), 0.0);
}

}  // namespace
}  // namespace neap::nn
