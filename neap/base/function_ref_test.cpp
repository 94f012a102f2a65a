// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/function_ref.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace neap::base {
namespace {

int twice(int x) {
  return 2 * x;
}

TEST(FunctionRefTest, CallsFunctionsClosuresAndTheirState) {
  FunctionRef<int(int)> f = twice;
  EXPECT_EQ(f(4), 8);
  int calls = 0;
  auto counting = [&calls](int x) { return x + ++calls; };
  const FunctionRef<int(int)> g = counting;
  EXPECT_EQ(g(10), 11);
  EXPECT_EQ(g(10), 12);
  EXPECT_EQ(calls, 2);
  f = g;
  EXPECT_EQ(f(10), 13);
}

TEST(FunctionRefTest, PassesReferencesAndWhatOnlyMoves) {
  auto take = [](std::unique_ptr<int> p, int& out) { out = *p; };
  const FunctionRef<void(std::unique_ptr<int>, int&)> f = take;
  int out = 0;
  f(std::make_unique<int>(7), out);
  EXPECT_EQ(out, 7);
}

TEST(FunctionRefTest, IsMadeOnlyOfWhatCanBeCalledSo) {
  using F = FunctionRef<int(int)>;
  EXPECT_TRUE((std::is_convertible_v<decltype(twice)&, F>));
  EXPECT_FALSE((std::is_convertible_v<int, F>));
  const auto wrong = [](const std::unique_ptr<int>&) { return 0; };
  EXPECT_FALSE((std::is_convertible_v<decltype(wrong)&, F>));
}

}  // namespace
}  // namespace neap::base
