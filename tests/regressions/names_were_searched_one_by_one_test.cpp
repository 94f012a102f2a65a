// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A parameter by its path, and a gradient by its tensor, were found by looking
// at all of them: for n of n, n squared.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "neap/autograd/gradients.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/module.hpp"
#include "neap/nn/registry.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

std::string numbered(const char* text, int number) {
  std::string name(text);
  name += std::to_string(number);
  return name;
}

// Processor time, the least of some runs.
template <class F>
double seconds(const F& f) {
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    f();
    least = std::min(least, static_cast<double>(std::clock() - begin));
  }
  return (least + 1) / CLOCKS_PER_SEC;
}

constexpr int kSome = 2000;
constexpr int kMany = 8 * kSome;

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

double find_each_of(int count) {
  const auto top = nn::Registry::make();
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(numbered("w", i));
    top->add_entry(names.back(), ones({1}), false, CallSite::here());
  }
  return seconds([&] {
    for (const std::string& name : names) {
      EXPECT_NE(top->find(name), nullptr);
    }
  });
}

TEST(ManyNamesTest, FindingOneDoesNotLookAtTheOthers) {
  EXPECT_LT(find_each_of(kMany), 30 * find_each_of(kSome));
}

TEST(ManyGradientsTest, EachIsFoundByItsTensor) {
  for (const std::size_t count : {1U, 16U, 17U, 1000U}) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < count; ++i) {
      inputs.push_back(requires_grad_(ones({1})));
    }
    inputs.push_back(inputs.front());  // of equal ones the first is meant
    Gradients gradients(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      gradients.replace(i, inputs[i].detach());
    }
    for (const Tensor& input : inputs) {
      EXPECT_TRUE(gradients.contains(input));
      EXPECT_TRUE(gradients.get(input).is_alias_of(input));
    }
    EXPECT_FALSE(gradients.contains(requires_grad_(ones({1}))));
    EXPECT_FALSE(gradients.contains(ones({1})));
    EXPECT_FALSE(gradients.contains(Tensor()));
    gradients.take(inputs.front());
    EXPECT_FALSE(gradients[0].defined());
  }
}

double get_each_of(int count) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < count; ++i) {
    inputs.push_back(requires_grad_(ones({1})));
  }
  const Gradients gradients(inputs);
  return seconds([&] {
    for (const Tensor& input : inputs) {
      EXPECT_FALSE(gradients.get(input).defined());
    }
  });
}

TEST(ManyGradientsTest, FindingOneDoesNotLookAtTheOthers) {
  EXPECT_LT(get_each_of(kMany), 30 * get_each_of(kSome));
}

}  // namespace
}  // namespace neap
