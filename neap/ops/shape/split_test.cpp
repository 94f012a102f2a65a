// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/split.hpp"

#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The parts in reverse, so that the order of the views shows.
Tensor reversed(const memory::Vector<Tensor>& parts, std::int64_t axis) {
  const std::vector<Tensor> back(parts.rbegin(), parts.rend());
  return concat(back, axis);
}

const std::vector<double> kTen = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

OpTable split_table() {
  return {
      .name = "split",
      .rows = {{.name = "by a size",
                .fn = [](Inputs x) { return reversed(split(x[0], 4, -1), 1); },
                .inputs = {literal({1, 10}, kTen)},
                .expected = {8, 9, 4, 5, 6, 7, 0, 1, 2, 3}},
               {.name = "by sizes",
                .fn =
                    [](Inputs x) {
                      return reversed(split(x[0], {1, 0, 4}, 0), 0);
                    },
                .inputs = {literal({5, 2}, kTen)},
                .expected = {2, 3, 4, 5, 6, 7, 8, 9, 0, 1}}},
      .errors = {{.name = "size",
                  .fn = [](Inputs x) { return split(x[0], 0)[0]; },
                  .inputs = {uniform({3}, 0, 1)},
                  .error = typeid(ValueError)},
                 {.name = "sizes",
                  .fn =
                      [](Inputs x) {
                        return split(x[0], {1, 1})[0];
                      },
                  .inputs = {uniform({3}, 0, 1)},
                  .error = typeid(ShapeError)},
                 {.name = "negative",
                  .fn =
                      [](Inputs x) {
                        return split(x[0], {4, -1})[0];
                      },
                  .inputs = {uniform({3}, 0, 1)},
                  .error = typeid(ShapeError)}},
      .no_zero_size = "slice has them"};
}

const Listed kSplitListed(split_table);

OpTable chunk_table() {
  return {.name = "chunk",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return reversed(chunk(x[0], 4), 0); },
                    .inputs = {literal({10}, kTen)},
                    .expected = {9, 6, 7, 8, 3, 4, 5, 0, 1, 2}}},
          .errors = {{.name = "count",
                      .fn = [](Inputs x) { return chunk(x[0], 0)[0]; },
                      .inputs = {uniform({3}, 0, 1)},
                      .error = typeid(ValueError)}},
          .no_zero_size = "slice has them"};
}

const Listed kChunkListed(chunk_table);

OpTable unbind_table() {
  return {.name = "unbind",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return reversed(unbind(x[0], 1), 0); },
                    .inputs = {literal({5, 2}, kTen)},
                    .expected = {1, 3, 5, 7, 9, 0, 2, 4, 6, 8}}},
          .errors = {{.name = "axis",
                      .fn = [](Inputs x) { return unbind(x[0], 2)[0]; },
                      .inputs = {uniform({3}, 0, 1)},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "slice has them"};
}

const Listed kUnbindListed(unbind_table);

TEST(SplitTest, CutsNothingIntoOnePartOfNothing) {
  EXPECT_EQ(split(zeros({0, 2}), 3).size(), 1U);
  EXPECT_EQ(chunk(zeros({0, 2}), 3).size(), 3U);
  EXPECT_EQ(unbind(zeros({0, 2})).size(), 0U);
  EXPECT_EQ(chunk(zeros({5}), 4).size(), 3U);
}

// Counts the arrays like x that a walk makes.
class CountingRecorder final : public graph::Recorder {
 public:
  void record(const graph::OpCall& call, std::span<Tensor> outputs) override {
    const void* before =
        call.inputs.empty() || !call.op.facts.donates
            ? nullptr
            : call.inputs[0].tensor().array()->storage()->data();
    graph::eager().record(call, outputs);
    if (call.op.view == nullptr && outputs[0].element_count() == size &&
        outputs[0].array()->storage()->data() != before) {
      ++made;
    }
  }
  std::int64_t size = 0;
  int made = 0;
};

TEST(SplitTest, WalksBackThroughManyPartsInOneSum) {
  Tensor x = requires_grad_(ones({300, 7}));
  Tensor loss;
  {
    const memory::Vector<Tensor> parts = unbind(x);
    loss = sum(mul(parts[0], 2.0));
    for (std::size_t i = 1; i < parts.size(); ++i) {
      loss = add(loss, sum(parts[i]));
    }
  }
  CountingRecorder recorder;
  recorder.size = x.element_count();
  {
    const graph::UseRecorder guard(&recorder);
    backward(loss);
  }
  EXPECT_EQ(recorder.made, 1);
  EXPECT_EQ(x.grad().at({0, 5}), 2);
  EXPECT_EQ(x.grad().at({299, 5}), 1);
  set_grad(x, Tensor());
}

}  // namespace
}  // namespace neap::testing
