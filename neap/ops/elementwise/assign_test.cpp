// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/assign.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "neap/graph/recorder.hpp"
#include "neap/graph/trace.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/transfer.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/testing/fail_sweep.hpp"

namespace neap {
namespace {

std::vector<double> numbers(const Tensor& t) {
  const auto all = t.to_vector();
  return {all.begin(), all.end()};
}

TEST(InPlaceTest, InPlaceOpsKeepTheMemoryAndCountAsWrites) {
  const Tensor x = arange(4, f64);
  const void* where = x.values<double>().data();
  const auto version = x.array()->storage()->version();
  add_(x, 1.0);
  mul_(x, x);
  sub_(x, ones({1}, f64));
  div_(x, full({4}, 2.0, f64));
  EXPECT_EQ(numbers(x), (std::vector<double>{0.0, 1.5, 4.0, 7.5}));
  EXPECT_EQ(x.values<double>().data(), where);
  EXPECT_EQ(x.array()->storage()->version(), version + 4);
}

TEST(InPlaceTest, ComputesIntoAWorkspaceWithoutNewMemory) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor a = ones({3, 2}, f64);
  const Tensor b = full({2, 3}, 2.0, f64);
  const Tensor out = zeros({3, 3}, f64);
  const Bytes live = domain->stats().live;
  const auto blocks = domain->stats().live_blocks;
  for (int i = 0; i < 3; ++i) {
    compute_into(out, ops::kMatmul, {a, b});
  }
  EXPECT_EQ(out.at({2, 2}), 4.0);
  EXPECT_EQ(domain->stats().live, live);
  EXPECT_EQ(domain->stats().live_blocks, blocks);
}

TEST(InPlaceTest, RefusesWhatWouldReadWhatItWrites) {
  const Tensor a = ones({2, 2}, f64);
  EXPECT_THROW(compute_into(a, ops::kMatmul, {a, a}), ValueError);
  EXPECT_THROW(compute_into(a, ops::kAdd, {a, transpose(a, 0, 1)}), ValueError);
  EXPECT_EQ(sum(a).item(), 4.0);
}

TEST(InPlaceTest, RefusesOtherShapesViewsAndTrackedTensors) {
  const Tensor x = ones({2, 2}, f64);
  EXPECT_THROW(add_(x, ones({3, 2, 2}, f64)), ShapeError);
  EXPECT_THROW(add_(x, ones({2, 2}, f32)), DTypeError);
  EXPECT_THROW(add_(slice(x, 1, 0, 1), 1.0), ShapeError);
  EXPECT_EQ(sum(x).item(), 4.0);
  const Tensor leaf = requires_grad_(ones({2}, f64));
  EXPECT_THROW(add_(leaf, 1.0), GraphError);
  EXPECT_THROW(add_(mul(leaf, leaf), 1.0), GraphError);
  const NoGrad guard;
  add_(leaf, 1.0);
  EXPECT_EQ(sum(leaf).item(), 4.0);
}

TEST(InPlaceTest, AFailureLeavesTheTensorUnchanged) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor a = ones({64, 64});
  const Tensor out = zeros({64, 64});
  const auto sweep = testing::sweep_allocation_failures(
      *domain,
      [&] {
        compute_into(out, ops::kMatmul, {a, a});
      },
      [&](std::int64_t) {
        EXPECT_EQ(out.at({1, 1}), 0.0);
      });
  EXPECT_TRUE(sweep.ok());
  EXPECT_EQ(out.at({1, 1}), 64.0);
}

// Keeps the names of what it is told, and passes calls on.
class Listing final : public graph::Trace, public graph::Recorder {
 public:
  void record(const graph::OpCall& call, std::span<Tensor> outputs) override {
    names.emplace_back(call.op.name);
    graph::eager().record(call, outputs);
  }
  void write(const graph::Write& write) override {
    names.push_back("write " + std::string(write.name));
    EXPECT_FALSE(write.reads_out);
    EXPECT_EQ(write.out.size(), 1U);
    inputs.push_back(write.in.size());
  }
  void check(const graph::Check& /*check*/) override {}
  void depends_on(const bool& /*flag*/, base::AnyRef /*owner*/) override {}
  void listen(graph::RunListener& /*listener*/) override {}
  void on_grad_read(graph::Leaf& /*leaf*/) override {}
  bool on_grad_change(graph::Leaf& /*leaf*/) noexcept override { return true; }
  bool on_mode_change(graph::Leaf& /*leaf*/) noexcept override { return true; }
  void on_hooks(graph::Leaf& /*leaf*/) override {}
  void on_hook_removal(const graph::Hook& /*hook*/) noexcept override {}
  void depends_on_generation(const std::uint32_t& /*generation*/,
                             base::AnyRef /*owner*/) noexcept override {}
  bool on_flag_change(bool& /*flag*/,
                      base::AnyRef /*owner*/) noexcept override {
    return true;
  }
  std::uint32_t enter_segment(std::uint32_t segment) noexcept override {
    return segment;
  }

  std::vector<std::string> names;
  std::vector<std::size_t> inputs;
};

class TracedWriteTest : public ::testing::Test {
 protected:
  Listing trace_;
  tensor::ExecutionGuard use_{[&](tensor::Execution& c) {
    c.trace = &trace_;
    c.recorder = &trace_;
  }};
};

using Names = std::vector<std::string>;

TEST_F(TracedWriteTest, InPlaceFormsAreRecordedAndWriteNothing) {
  const Tensor x = ones({2, 2}, f64);
  const Tensor row = full({2}, 3.0, f64);
  copy_(x, row);
  fill_(slice(x, 0, 0, 1), 2.0);
  add_(x, row);
  compute_into(x, ops::kMatmul, {ones({2, 2}, f64), ones({2, 2}, f64)});
  EXPECT_EQ(trace_.names, (Names{"write copy_", "slice", "write fill_",
                                 "write add", "write matmul"}));
  EXPECT_EQ(trace_.inputs, (std::vector<std::size_t>{1, 0, 2, 2}));
  EXPECT_EQ(numbers(x), (std::vector<double>(4, 1.0)));
}

TEST_F(TracedWriteTest, ASourceThatLiesInTheTargetIsCopiedFirst) {
  const Tensor x = ones({2, 2});
  copy_(x, x);
  EXPECT_EQ(trace_.names, (Names{"copy", "write copy_"}));
}

TEST_F(TracedWriteTest, WhatIsNoPlainKernelIsCopied) {
  const Tensor x = ones({2});
  const ops::TransferAttrs here{memory::kHost, memory::kHost};
  compute_into(x, ops::kTransfer, {zeros({2})}, here);
  EXPECT_EQ(trace_.names, (Names{"transfer", "write copy_"}));
}

TEST_F(TracedWriteTest, RefusesWhatItRefusesElsewhere) {
  const Tensor x = ones({2, 2});
  EXPECT_THROW(add_(x, ones({3, 2, 2})), ShapeError);
  EXPECT_THROW(compute_into(x, ops::kMatmul, {x, x}), ValueError);
  EXPECT_THROW(copy_(x, ones({3})), ShapeError);
  const Tensor leaf = requires_grad_(ones({2}));
  EXPECT_THROW(fill_(leaf, 1.0), GraphError);
  EXPECT_TRUE(trace_.names.empty());
}

// A recorder between the program and the trace: jvp, a segment.
TEST_F(TracedWriteTest, RefusesInsideAnotherRecorder) {
  Listing inner;
  const Tensor x = ones({2});
  const graph::UseRecorder use(&inner);
  EXPECT_THROW(fill_(x, 1.0), GraphError);
  EXPECT_THROW(add_(x, 1.0), GraphError);
}

}  // namespace
}  // namespace neap
