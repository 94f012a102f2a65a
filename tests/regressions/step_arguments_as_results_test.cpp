// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Results and gradients of a compiled step that lie in memory of the caller's,
// or of the program's: they had the wrong elements, or shared them.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(StepArgumentsAsResultsTest, AViewWithAnOffsetKeepsItsElements) {
  for (const bool keep_all : {false, true}) {
    CompileOptions options;
    options.keep_all = keep_all;
    auto step = neap::compile([](const Tensor& x) { return x; }, options);
    const Tensor all = arange(10, f32);
    EXPECT_THAT(floats(step(slice(all, 0, 4, 7))), ElementsAre(4, 5, 6));
    EXPECT_THAT(floats(step(slice(all, 0, 1, 4))), ElementsAre(1, 2, 3));
  }
}

TEST(StepArgumentsAsResultsTest, APartOfAViewWithAnOffsetKeepsItsElements) {
  auto step = neap::compile(
      [](const Tensor& x) { return std::pair(narrow(x, 0, 1, 2), x * 2.0); });
  const auto [part, doubled] = step(slice(arange(10, f32), 0, 4, 7));
  EXPECT_THAT(floats(part), ElementsAre(5, 6));
  EXPECT_THAT(floats(doubled), ElementsAre(8, 10, 12));
}

TEST(StepArgumentsAsResultsTest, AGradientThatIsAnArgumentIsMemoryOfItsOwn) {
  const Tensor w = requires_grad_(ones({3}));
  auto step = neap::compile([&](const Tensor& g) { set_grad(w, g); });
  const Tensor all = arange(10, f32);
  step(slice(all, 0, 4, 7));
  EXPECT_THAT(floats(w.grad()), ElementsAre(4, 5, 6));
  w.grad().mutable_values<float>()[0] = -1.0F;
  EXPECT_EQ(all.at({4}), 4.0);
}

TEST(StepArgumentsAsResultsTest, AGradientThatIsAnArgumentIsAddedToInACopy) {
  const Tensor w = requires_grad_(ones({2}));
  auto step = neap::compile([&](const Tensor& g) {
    set_grad(w, g);
    backward(sum(w * 3.0));
  });
  const Tensor g = ones({2});
  for (int i = 0; i < 3; ++i) {
    step(g);
    EXPECT_THAT(floats(w.grad()), Each(4.0F));
    EXPECT_THAT(floats(g), Each(1.0F));
  }
}

TEST(StepArgumentsAsResultsTest, AReturnedConstantIsTheCallers) {
  for (const bool keep_all : {false, true}) {
    CompileOptions options;
    options.keep_all = keep_all;
    auto step = neap::compile(
        [](const Tensor&) {
          return from_values({1, 2, 3}, {3});
        },
        options);
    for (int i = 0; i < 3; ++i) {
      Tensor y = step(ones({1}));
      EXPECT_THAT(floats(y), ElementsAre(1, 2, 3));
      y.mutable_values<float>()[0] = 9.0F;
    }
  }
}

TEST(StepArgumentsAsResultsTest, BackwardOfAResultSaysWhatItIs) {
  const Tensor w = requires_grad_(ones({2}));
  auto step = neap::compile([&](const Tensor& x) { return sum(x * w); });
  const Tensor loss = step(ones({2}));
  EXPECT_THAT(message_of([&] { backward(loss); }),
              ::testing::HasSubstr("the result of a compiled step"));
}

}  // namespace
}  // namespace neap::compiler
