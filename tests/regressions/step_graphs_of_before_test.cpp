// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled steps over what other code changes between the calls: modules that
// are exchanged, graphs that were recorded before, results of the step itself;
// and calls that fail while they are traced.
#include <gmock/gmock.h>

#include <optional>
#include <utility>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/nn/watch.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// A new module in the place of one whose modes had both been traced took over
// the program of the other mode.
TEST(StepModulesAreExchangedTest, ANewDropoutIsNotTheOneBefore) {
  std::optional<nn::Dropout> drop(std::in_place, 0.5);
  auto step = neap::compile([&](const Tensor& x) { return drop->forward(x); });
  const Tensor x = ones({64});
  const auto zeros_of = [&] {
    const Tensor y = step(x);
    int zeros = 0;
    for (const float value : y.values<float>()) {
      zeros += value == 0.0F ? 1 : 0;
    }
    return zeros;
  };
  EXPECT_GT(zeros_of(), 0);
  drop->eval();
  EXPECT_EQ(zeros_of(), 0);
  drop->train();
  EXPECT_GT(zeros_of(), 0);
  drop.emplace(0.5);
  EXPECT_GT(zeros_of(), 0);
  *drop = nn::Dropout(0.5);
  EXPECT_GT(zeros_of(), 0);
}

TEST(StepModulesAreExchangedTest, AModuleThatHasGrownIsNoticed) {
  nn::Sequential net{nn::Linear(1, 1)};
  auto count = neap::compile([&](const Tensor& x) {
    Tensor sum = x * 0.0;
    for (const auto& parameter : net.parameters()) {
      sum = sum + 1.0 + mean(parameter.tensor.detach()) * 0.0;
    }
    return sum;
  });
  auto clear = neap::compile([&](const Tensor& /*x*/) { net.zero_grad(); });
  const Tensor x = ones({1});
  EXPECT_THAT(floats(count(x)), ElementsAre(2.0F));
  clear(x);
  net.push(nn::Linear(1, 1));
  EXPECT_THAT(floats(count(x)), ElementsAre(4.0F));
  for (const auto& parameter : net.parameters()) {
    set_grad(parameter.tensor, zeros(parameter.tensor.shape()));
  }
  clear(x);
  for (const auto& parameter : net.parameters()) {
    EXPECT_FALSE(parameter.tensor.grad().defined());
  }
}

TEST(StepModulesAreExchangedTest, ALayerThatIsAskedForByPositionOrName) {
  nn::Sequential net{nn::ReLU()};
  auto layers = neap::compile([&](const Tensor& x) {
    Tensor y = x * 1.0;
    for (std::int64_t i = 0; i < net.size(); ++i) {
      y = net[i](y);
    }
    return y;
  });
  const Tensor x = from_values({-1, 2}, {2});
  EXPECT_THAT(floats(layers(x)), ElementsAre(0.0F, 2.0F));
  net.push(nn::LeakyReLU(0.5));
  net.push(nn::Tanh());
  EXPECT_EQ(floats(layers(x)), floats(net(x)));

  nn::Linear a(2, 2);
  nn::Linear b(2, 2);
  auto named = neap::compile([&](const Tensor& y) {
    return matmul(y, a.parameter("weight").detach());
  });
  const Tensor row = ones({1, 2});
  named(row);
  std::swap(a, b);
  EXPECT_EQ(floats(named(row)),
            floats(matmul(row, a.parameter("weight").detach())));
}

struct Slopes : nn::Layer {
  nn::LeakyReLU act{0.1};
  Slopes() { register_module("act", act); }
  Tensor forward(const Tensor& x) const override { return act.forward(x); }
};

TEST(StepModulesAreExchangedTest, ALayerInsideAModelThatCallsForward) {
  Slopes model;
  auto step = neap::compile([&](const Tensor& x) { return model(x); });
  const Tensor x = full({1}, -1.0);
  EXPECT_THAT(floats(step(x)), ElementsAre(-0.1F));
  model.act = nn::LeakyReLU(0.5);
  EXPECT_THAT(floats(step(x)), ElementsAre(-0.5F));
}

// The watch saw nothing, and said nothing.
TEST(StepModulesAreExchangedTest, AWatchIsNoticed) {
  nn::Linear net(2, 2);
  auto step = neap::compile([&](const Tensor& x) { return net(x); });
  const Tensor x = ones({1, 2});
  const std::vector<float> before = floats(step(x));
  {
    const nn::Watch watch(net);
    EXPECT_THAT([&] { step(x); },
                ThrowsMessage<TraceError>(HasSubstr("watch the plain")));
    EXPECT_TRUE(watch.calls().empty());
    EXPECT_EQ(floats(net(x)), before);
    EXPECT_EQ(watch.calls().size(), 1U);
  }
  EXPECT_EQ(floats(step(x)), before);
}

TEST(StepModulesAreExchangedTest, ASwapOfContainersIsNoticed) {
  nn::Sequential a{nn::Linear(2, 2)};
  nn::Sequential b{nn::Linear(2, 2)};
  auto step = neap::compile([&](const Tensor& x) { return a.forward(x); });
  const Tensor x = ones({1, 2});
  const std::vector<float> of_a = floats(a.forward(x));
  const std::vector<float> of_b = floats(b.forward(x));
  EXPECT_EQ(floats(step(x)), of_a);
  std::swap(a, b);
  EXPECT_EQ(floats(step(x)), of_b);
  EXPECT_THAT(step.why(), HasSubstr("module"));
  a.push(nn::Linear(2, 2));
  EXPECT_EQ(floats(step(x)), floats(a.forward(x)));
}

struct Two : nn::Module {
  Two() {
    register_module("drop", drop);
    register_module("fc", fc);
  }
  nn::Dropout drop{0.5};
  nn::Linear fc{2, 2};
};

// It threw "the module is already part of another", with half of it assigned.
TEST(StepModulesAreExchangedTest, AModelOfALiveStepIsAssignedOver) {
  Two model;
  Two other;
  auto step = neap::compile([&](const Tensor& x) {
    return model.is_training() ? model.fc.forward(x) : x * 2.0;
  });
  const Tensor x = ones({1, 2});
  step(x);
  const std::vector<float> expected = floats(other.fc.forward(x));
  model = std::move(other);
  EXPECT_EQ(floats(model.fc.forward(x)), expected);
  EXPECT_EQ(floats(step(x)), expected);
  EXPECT_EQ(model.parameters().size(), 2U);
}

TEST(StepGraphsOfBeforeTest, ABackwardThroughOneIsRefused) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  const Tensor h = square(w);
  auto step = neap::compile([&](const Tensor& x) { backward(sum(h * x)); });
  EXPECT_THAT([&] { step(ones({2})); },
              ThrowsMessage<TraceError>(HasSubstr("recorded at")));
  EXPECT_THROW(step.prepare({tensor::Spec{f32, {2}}}), TraceError);
  backward(sum(h));  // which the refused calls have not consumed
  EXPECT_THAT(floats(w.grad()), Each(6.0F));
}

TEST(StepGraphsOfBeforeTest, ACapturedTensorIsNotMadeALeaf) {
  Tensor h = ones({2});
  auto step = neap::compile([&](const Tensor& x) {
    requires_grad_(h);
    return h * x;
  });
  EXPECT_THROW(step(ones({2})), TraceError);
  EXPECT_FALSE(h.requires_grad());
  auto argument = neap::compile([](const Tensor& x) {
    requires_grad_(x);
    backward(sum(square(x)));
    return x.grad();
  });
  EXPECT_THAT([&] { argument(ones({2})); },
              ThrowsMessage<TraceError>(HasSubstr("argument 0")));
}

TEST(StepGraphsOfBeforeTest, AGradientWithAGraphIsNotOneWithout) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  auto step = neap::compile([&](const Tensor& x) {
    set_grad(w, {});
    backward(sum(square(w) * x), {.create_graph = true});
  });
  EXPECT_THAT([&] { step(ones({2})); },
              ThrowsMessage<TraceError>(HasSubstr("leaves")));
  EXPECT_FALSE(w.grad().defined());
  backward(sum(square(w)));
  auto reading = neap::compile([&](const Tensor& x) {
    const Tensor y = w.grad() * x;
    return scalar(y.requires_grad() ? 1.0 : 0.0) + sum(y.detach());
  });
  EXPECT_EQ(reading(ones({2})).item(), 12.0);
  set_grad(w, {});
  backward(sum(square(w)), {.create_graph = true});
  EXPECT_EQ(reading(ones({2})).item(), 13.0);
  set_grad(w, {});  // which its graph holds
}

// It was read from memory that the run wrote over.
TEST(StepGraphsOfBeforeTest, AResultOfTheStepThatItCapturesIsRefused) {
  Tensor last = zeros({2});
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor y = x * 2.0;
    return x.size(0) == 4 ? tanh(y) + sum(last) : tanh(y);
  });
  step(ones({4}));
  last = step(ones({2}));
  step(ones({2}));
  last = step(ones({2}));
  EXPECT_THAT([&] { step(ones({4})); },
              ThrowsMessage<ValueError>(HasSubstr("name it in .keep")));
}

TEST(StepGraphsOfBeforeTest, WhetherStatesShareElementsIsCompared) {
  Tensor h = full({2}, 1.0);
  const Tensor k = h;
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor y = h.is_alias_of(k) ? x * 2.0 : x * 10.0;
    h = y.detach();
    return y;
  });
  EXPECT_THAT(floats(step(ones({2}))), Each(2.0F));
  EXPECT_THAT(floats(step(ones({2}))), Each(10.0F));
  h = k;
  EXPECT_THAT(floats(step(ones({2}))), Each(2.0F));
}

// The n-th request fails: handles were left as the trace had them.
TEST(StepFailsWhileItIsTracedTest, HandlesMeanWhatTheyMeant) {
  const auto domain = memory::Domain::create({});
  const UseDomain use(*domain);
  std::int64_t n = 0;
  for (bool has_failed = true; has_failed;) {
    Tensor a = full({2}, 1.0);
    Tensor b = full({2}, 2.0);
    Tensor undefined;
    nn::Dropout drop(0.5);
    auto step = neap::compile([&](const Tensor& x) {
      std::swap(a, b);
      const Tensor moved = std::move(b);
      b = moved * x;
      undefined = a * 2.0;
      a = Tensor();
      drop.eval();
      return drop.forward(b) + undefined;
    });
    const Tensor x = ones({2});
    domain->fail_at(++n);
    try {
      step.prepare({tensor::Spec{f32, {2}}});
      has_failed = false;
    } catch (const OutOfMemory&) {
    }
    domain->fail_at(0);
    ASSERT_THAT(floats(a), Each(1.0F)) << n;
    ASSERT_THAT(floats(b), Each(2.0F)) << n;
    ASSERT_FALSE(undefined.defined()) << n;
    ASSERT_TRUE(drop.is_training()) << n;
  }
  EXPECT_GT(n, 50);
}

// Room for a list of results was asked for after the run.
TEST(StepFailsWhileItIsTracedTest, AListOfResultsFailsBeforeTheRun) {
  const auto domain = memory::Domain::create({});
  const UseDomain use(*domain);
  const Tensor w = zeros({2});
  auto step = neap::compile([&](const Tensor& x) {
    copy_(w, w + x);
    memory::Vector<Tensor> out;
    out.push_back(w * 2.0);
    return out;
  });
  const Tensor x = ones({2});
  for (int i = 0; i < 3; ++i) {
    step(x);
  }
  domain->fail_at(1);
  EXPECT_THROW(step(x), OutOfMemory);
  domain->fail_at(0);
  EXPECT_THAT(floats(w), Each(3.0F));
}

// A run would not register them again.
TEST(StepGraphsOfBeforeTest, HooksOfResultsOfBeforeAreRefused) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  const Tensor y = w * 2.0;
  const auto is_refused = ThrowsMessage<TraceError>(HasSubstr("was recorded"));
  auto hooking = neap::compile([&](const Tensor& x) {
    register_hook(y, [](const Tensor& grad) { return grad * 2.0; });
    return x * 2.0;
  });
  EXPECT_THAT([&] { hooking(ones({2})); }, is_refused);
  auto retaining = neap::compile([&](const Tensor& x) {
    retain_grad(y);
    return x * 2.0;
  });
  EXPECT_THAT([&] { retaining(ones({2})); }, is_refused);
  backward(sum(y));
  EXPECT_THAT(floats(w.grad()), Each(2.0F));
  EXPECT_FALSE(y.grad().defined());
}

}  // namespace
}  // namespace neap::compiler
