// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows D1, D10 and N5: the graph looked at, and who holds what stays.
#include "support.hpp"

namespace neap::four_systems {
namespace {

TEST(FourSystemsTest, OneTensorHasValueGradientAndGraph_D1) {
  const Tensor x = leaf({0.5, 0.25});
  const Tensor product = x * x;
  const Tensor y = sum(product);
  EXPECT_EQ(y.item(), 0.3125);
  const graph::NodeInfo info = graph::inspect(product);
  EXPECT_EQ(info.made_by.op, "mul");
  EXPECT_EQ(info.inputs.size(), 2U);
  EXPECT_EQ(info.inputs[0].standing, graph::Standing::kLeaf);
  EXPECT_GT(info.bytes, 0);
  EXPECT_EQ(info.residual_bytes, 16);
  ASSERT_EQ(info.users.size(), 1U);
  EXPECT_EQ(info.users[0].op, "sum");
  backward(y);
  EXPECT_THAT(numbers(x.grad()), ElementsAre(1, 0.5));
  EXPECT_EQ(graph::inspect(product).standing, graph::Standing::kConsumed);
}

TEST(FourSystemsTest, TheGraphCanBePrintedAndDrawn_D1) {
  const Tensor x = leaf({0.5});
  const Tensor y = exp(sin(x));
  EXPECT_THAT(graph::print(y), AllOf(HasSubstr("exp"), HasSubstr("sin"),
                                     HasSubstr("report_test.cpp")));
  EXPECT_THAT(graph::to_dot(y),
              AllOf(HasSubstr("digraph"), HasSubstr("exp"), HasSubstr("->")));
}

// The one cycle that a user can make: a hook that holds what it hangs on.
TEST(FourSystemsTest, ACycleThroughAHookIsNamedByTheLeakReport_D10) {
  const memory::TrackHandles tracking;
  const report::Baseline baseline;
  HookHandle handle;
  {
    const Tensor x = leaf({1, 2, 3});
    handle = register_hook(x, [x](const Tensor&) {});
  }
  const std::string text = report::report_leaks(baseline);
  EXPECT_THAT(text, HasSubstr("f64 [3]"));
  EXPECT_THAT(text, HasSubstr("hook"));
  EXPECT_THAT(text, HasSubstr("report_test.cpp"));
  handle.remove();
  EXPECT_THAT(report::report_leaks(baseline), Not(HasSubstr("f64 [3]")));
}

TEST(FourSystemsTest, ALeakNamesTensorOpOwnerLineAndHolders_N5) {
  const memory::TrackHandles tracking;
  nn::Linear layer(3, 2, true, f64);
  const report::Baseline baseline;
  std::vector<Tensor> forgotten;
  const Tensor x = ones({4, 3}, f64);
  forgotten.push_back(tanh(layer(x)));
  const int line = __LINE__ - 1;
  EXPECT_THAT(report::report_leaks(baseline),
              AllOf(HasSubstr("f64 [4, 2]"), HasSubstr("'tanh'"),
                    HasSubstr("held by"), HasSubstr("1 handle"),
                    HasSubstr("report_test.cpp:" + std::to_string(line))));
}

}  // namespace
}  // namespace neap::four_systems
