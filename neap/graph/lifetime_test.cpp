// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tests of one node that several threads meet at, one step at a time: a walk
// holds it, a source is retired while it is recorded. Whole graphs are tested
// in neap/autograd/lifetime_test.cpp.
#include "neap/graph/lifetime.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "neap/graph/node.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/trigonometry.hpp"
#include "neap/tensor/create.hpp"

namespace neap::graph {
namespace {

Node& node_of(const Tensor& t) {
  return static_cast<Node&>(*t.link());
}

void consume(const Tensor& t) {
  node_of(t).claim(0, 0);
  node_of(t).consume({});
}

// A node that is not finished: no other knows of it yet.
base::Ref<Node> recording(const Op& op, std::span<const Operand> inputs,
                          const Attrs& attrs = {}) {
  const Spec output{f64, {}};
  return Node::create({op, inputs, attrs, {}}, {&output, 1}, memory::domain());
}

class Last final : public Observer {
 public:
  void freed(const FreedNode& node) noexcept override {
    bytes = node.residual_bytes;
  }
  Bytes bytes = -1;
};

// Stays in its first call, and with it under the lock of a node that retires,
// until it is let go.
class Pause final : public Observer {
 public:
  void freed(const FreedNode& /*node*/) noexcept override {
    is_reached = true;
    is_reached.notify_all();
    is_over.wait(false);
  }
  std::atomic<bool> is_reached{false};
  std::atomic<bool> is_over{false};
};

class NodeLifetimeTest : public testing::Test {
 protected:
  const Tensor x_ = requires_grad_(scalar(2.0, f64));
  const Tensor a_ = exp(x_);
  const Tensor b_ = sin(x_);
};

TEST_F(NodeLifetimeTest, AWalkEntersNoNodeFromBeforeItsFloor) {
  Node& node = node_of(a_);
  EXPECT_FALSE(node.claim(7, node.sequence() + 1));
  EXPECT_TRUE(node.claim(7, node.sequence()));
  EXPECT_EQ(node.mark(), 7U);
  EXPECT_THROW(node.claim(8, 0), GraphError);
  node.unclaim();
  EXPECT_TRUE(node.claim(8, 0));
  node.unclaim();
}

TEST_F(NodeLifetimeTest, ASourceIsRetiredWhileANodeIsRecorded) {
  const Operand inputs[] = {a_, b_};
  const base::Ref<Node> of_both = recording(ops::kMul, inputs);
  const base::Ref<Node> of_first = recording(ops::kTanh, {inputs, 1});
  const base::Ref<Node> of_second = recording(ops::kTanh, {inputs + 1, 1});
  consume(b_);
  of_both->finish();
  of_first->finish();
  of_second->finish();
  EXPECT_EQ(of_both->state(), State::kUnavailable);
  EXPECT_EQ(of_both->cause().op, &node_of(b_).op());
  EXPECT_EQ(of_first->state(), State::kAvailable);
  EXPECT_EQ(of_second->state(), State::kUnavailable);
  EXPECT_EQ(node_of(a_).users().size(), 1U);
}

TEST_F(NodeLifetimeTest, ANodeIsRetiredWhenTheWalkThatHoldsItLetsGo) {
  const Tensor result = mul(a_, b_);
  Node& node = node_of(result);
  node.claim(0, 0);
  consume(b_);
  EXPECT_EQ(node.state(), State::kAvailable);
  EXPECT_EQ(node.residuals().size(), 2U);
  node.unclaim();
  EXPECT_EQ(node.state(), State::kUnavailable);
  EXPECT_EQ(node.cause().op, &node_of(b_).op());
  EXPECT_TRUE(node.residuals().empty());
}

// A thread retires b, and another, which has joined a, waits for b's lock
// while a third one consumes a.
TEST_F(NodeLifetimeTest, NobodyEndsANodeBeforeAllItsSourcesKnowIt) {
  const Operand inputs[] = {a_, b_};
  const base::Ref<Node> node = recording(ops::kMul, inputs);
  Pause pause;
  std::thread retires([&] {
    const UseObserver use(pause);
    consume(b_);
  });
  pause.is_reached.wait(false);
  std::thread records([&] { node->finish(); });
  while (node_of(a_).users().empty()) {
    std::this_thread::yield();
  }
  std::atomic<bool> is_consumed{false};
  std::thread consumes([&] {
    consume(a_);
    is_consumed = true;
  });
  while (!is_consumed && node->state() == State::kAvailable) {
    std::this_thread::yield();
  }
  EXPECT_EQ(node->state(), State::kAvailable);
  pause.is_over = true;
  pause.is_over.notify_all();
  consumes.join();
  retires.join();
  records.join();
  EXPECT_EQ(node->state(), State::kUnavailable);
}

TEST_F(NodeLifetimeTest, ObserversAreToldTheBytesUnderWhatWasKept) {
  Last last;
  const UseObserver use(last);
  const Operand inputs[] = {a_, b_};
  const Bytes one = a_.array()->storage()->size();
  recording(ops::kMul, inputs);
  EXPECT_EQ(last.bytes, 2 * one);
  recording(ops::kTanh, {inputs, 1});  // whose output never came
  EXPECT_EQ(last.bytes, 0);
}

// The attributes lie behind the shapes that are kept.
TEST_F(NodeLifetimeTest, AttributesThatOwnSomethingEndOnce) {
  Op op;
  op.name = "owner";
  op.facts.vjp_reads[0].shapes = 1;
  op.copy_attrs = [](void* to, const void* from) noexcept {
    int* count = *static_cast<int* const*>(from);
    *static_cast<int**>(to) = count;
    ++*count;
  };
  op.drop_attrs = [](void* attrs) noexcept { --**static_cast<int**>(attrs); };
  int count = 0;
  int* const owned = &count;
  const Tensor wide = requires_grad_(zeros({2, 3}, f64));
  const Operand inputs[] = {wide};
  base::Ref<Node> node = recording(op, inputs, owned);
  EXPECT_EQ(count, 1);
  node = {};
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace neap::graph
