// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A parameter by its path, and a gradient by its tensor, were found by looking
// at all of them: for n of n, n squared.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "neap/autograd/gradients.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/module.hpp"
#include "neap/nn/registry.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using Clock = std::chrono::steady_clock;

std::string numbered(const char* text, int number) {
  std::string name(text);
  name += std::to_string(number);
  return name;
}

template <class F>
double seconds(const F& f) {
  const auto begin = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST(ManyNamesTest, EachParameterIsFoundByItsPath) {
  for (const int count : {1, 15, 16, 17, 18, 33, 1000}) {
    const auto top = nn::Registry::make();
    const auto inner = nn::Registry::make();
    top->add_child("inner", inner);
    for (int i = 0; i < count; ++i) {
      const std::string name = numbered("w", i);
      inner->add_entry(name, full({1}, i), i % 3 != 0, CallSite::here());
      inner->add_child(numbered("c", i), nn::Registry::make());
    }
    for (int i = 0; i < count; ++i) {
      const std::string name = numbered("inner.w", i);
      const nn::Entry* entry = top->find(name);
      ASSERT_NE(entry, nullptr) << name;
      EXPECT_EQ(entry->tensor.item(), i);
      EXPECT_EQ(top->find(numbered("inner.c", i)), nullptr);
      EXPECT_THROW(inner->add_child(numbered("w", i), nn::Registry::make()),
                   NameError);
      EXPECT_THROW(inner->add_entry(numbered("c", i), ones({1}), false,
                                    CallSite::here()),
                   NameError);
    }
    EXPECT_EQ(top->find(numbered("inner.w", count)), nullptr);
  }
}

TEST(ManyNamesTest, FindingOneDoesNotLookAtTheOthers) {
  constexpr int kCount = 30000;
  const auto top = nn::Registry::make();
  std::vector<std::string> names;
  const double taken = seconds([&] {
    for (int i = 0; i < kCount; ++i) {
      names.push_back(numbered("w", i));
      top->add_entry(names.back(), Tensor(ones({1})), false, CallSite::here());
    }
    for (const std::string& name : names) {
      EXPECT_NE(top->find(name), nullptr);
    }
  });
  EXPECT_LT(taken, 2);
}

TEST(ManyGradientsTest, EachIsFoundByItsTensor) {
  for (const std::size_t count : {1U, 16U, 17U, 1000U, 100000U}) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < count; ++i) {
      inputs.push_back(requires_grad_(ones({1})));
    }
    inputs.push_back(inputs.front());  // of equal ones the first is meant
    Gradients gradients(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      gradients.replace(i, inputs[i].detach());
    }
    const double taken = seconds([&] {
      for (const Tensor& input : inputs) {
        EXPECT_TRUE(gradients.contains(input));
        EXPECT_TRUE(gradients.get(input).is_alias_of(input));
      }
    });
    EXPECT_LT(taken, 2) << count;
    EXPECT_FALSE(gradients.contains(requires_grad_(ones({1}))));
    EXPECT_FALSE(gradients.contains(ones({1})));
    EXPECT_FALSE(gradients.contains(Tensor()));
    gradients.take(inputs.front());
    EXPECT_FALSE(gradients[0].defined());
  }
}

}  // namespace
}  // namespace neap
