// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/conv/conv.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/run_for_test.hpp"

namespace neap::compiler {
namespace {

struct Net {
  ProgramMaker maker;
  ValueId sums;
  ValueId y;

  // With a derivative in view, or without.
  explicit Net(double slope = 0.0) : Net(false, slope) {}
  explicit Net(bool is_prediction, double slope) {
    const ValueId x = maker.argument({2, 3, 5, 4});
    const ValueId w = maker.external(randn({6, 3, 3, 3}));
    const ValueId bias = maker.external(randn({6}));
    sums = maker.call(ops::kConv2d, {x, w, bias},
                      kernels::ConvAttrs{.padding = {1, 1},
                                         .x_extent = {5, 4},
                                         .kernel = {3, 3},
                                         .y_extent = {5, 4}});
    y = is_prediction
            ? maker.call(ops::kRelu, {sums})
            : maker.call(ops::kReluBits, {sums}, kernels::SlopeAttrs{slope});
    maker.result(y);
  }
  std::string joined() {
    run_checked(fuse_relu, maker.program);
    return names_of(maker.program);
  }
};

Net prediction() {
  return Net(true, 0.0);
}

TEST(JoinReluPassTest, AConvolutionEndsInItsRelu) {
  EXPECT_EQ(Net().joined(), "conv2d_relu_bits");
  EXPECT_EQ(prediction().joined(), "conv2d_relu");
}

TEST(JoinReluPassTest, TheSumsHaveNoOtherReader) {
  Net net;
  net.maker.result(net.maker.call(ops::kExp, {net.sums}));
  EXPECT_EQ(net.joined(), "conv2d relu_bits exp");
}

TEST(JoinReluPassTest, TheSumsAreNoResult) {
  Net net;
  net.maker.result(net.sums);
  EXPECT_EQ(net.joined(), "conv2d relu_bits");
}

TEST(JoinReluPassTest, ALeakyReluStaysApart) {
  EXPECT_EQ(Net(0.5).joined(), "conv2d relu_bits");
}

TEST(JoinReluPassTest, ASegmentThatRunsAgainKeepsItsOwn) {
  Net net;
  net.maker.program.calls.change(1, [](Call& call) { call.segment = 1; });
  EXPECT_EQ(net.joined(), "conv2d relu_bits");
}

TEST(JoinReluPassTest, ItsBitsAreThoseOfTheTwo) {
  for (const bool is_prediction : {false, true}) {
    Net net(is_prediction, 0.0);
    const Tensor x = randn({2, 3, 5, 4});
    const auto apart = TestRun(net.maker.program, std::span(&x, 1)).run();
    net.joined();
    EXPECT_EQ(net.maker.program.calls.size(), 1U);
    EXPECT_EQ(TestRun(net.maker.program, std::span(&x, 1)).run(), apart);
  }
}

}  // namespace
}  // namespace neap::compiler
