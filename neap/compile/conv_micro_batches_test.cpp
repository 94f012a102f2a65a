// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutional networks in micro-batches: gradients of kernels and biases go
// on from part to part, to the bits of the whole batch.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/lower.hpp"
#include "neap/models/lenet.hpp"
#include "neap/models/vgg.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/nn/conv.hpp"
#include "neap/nn/group_norm.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Outcome {
  std::vector<double> losses;
  std::uint64_t state = 0;
  Bytes arena = 0;
  Bytes predicted = 0;
  Fitting fitting{};
  std::set<std::string> together;  // calls that see all rows at once
};

// Calls on more than a number a row, in a batch whose size is no other extent.
std::set<std::string> calls_on_all_rows(const Program& program,
                                        std::int64_t rows) {
  std::set<std::string> names;
  for (const Call& call : program.calls) {
    const auto has_all = [&](const Operand& operand) {
      const Shape& shape = operand.layout->shape;
      return shape.rank() > 1 && std::ranges::find(shape, rows) != shape.end();
    };
    if (std::ranges::any_of(program.in(call), has_all) ||
        std::ranges::any_of(program.out(call), has_all)) {
      names.emplace(call.name);
    }
  }
  return names;
}

// Two steps of a model on images of `rows` samples and their labels.
Outcome train_on(nn::Layer& model, const Shape& image, std::int64_t rows,
                 const CompileOptions& options, int threads) {
  threads::Pool pool(threads);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& c) { c.executor = &pool; });
  optim::AdamW optimizer(model.parameters(), {.lr = 0.01});
  auto step = neap::compile(
      [&](const Tensor& x, const Tensor& labels) {
        const Tensor loss = cross_entropy(model(x), labels);
        backward(loss);
        optimizer.step();
        optimizer.zero_grad();
        return loss.detach();
      },
      options);
  Shape batch{rows};
  for (const std::int64_t extent : image.span()) {
    batch.push_back(extent);
  }
  Outcome out;
  for (int i = 0; i < 2; ++i) {
    out.losses.push_back(step(randn(batch), randint(0, 5, {rows})).item());
  }
  out.arena = step.arena_bytes();
  out.predicted = step.prediction().arena;
  out.fitting = step.program().fitting;
  out.together = calls_on_all_rows(step.program(), rows);
  out.state = train::state_hash(model, optimizer, tensor::generator());
  return out;
}

Outcome train_lenet(const CompileOptions& options, std::int64_t rows,
                    int threads) {
  seed(5);
  models::LeNet model(
      {.image = {1, 12, 10}, .channels = {6, 9}, .classes = 5, .dropout = 0.3});
  return train_on(model, {1, 12, 10}, rows, options, threads);
}

// In parts, on so many threads, as `whole` on one.
template <class Train>
void expect_bits_of_the_whole(const Train& train, std::int64_t rows) {
  const Outcome whole = train({}, rows, 1);
  Bytes arena = whole.arena;
  for (const std::uint32_t count : {2U, 3U, 5U}) {
    for (const int threads : {1, 2, 3}) {
      const Outcome some =
          train({.passes = {.micro_batches = count}}, rows, threads);
      EXPECT_EQ(some.fitting.micro_batches, count);
      EXPECT_EQ(some.arena, some.predicted);
      EXPECT_THAT(some.together, IsEmpty());
      EXPECT_EQ(some.losses, whole.losses) << count << " of " << rows;
      EXPECT_EQ(some.state, whole.state) << count << " of " << rows;
      if (threads == 1) {
        EXPECT_LT(some.arena, arena) << count << " of " << rows;
        arena = some.arena;
      }
    }
  }
}

TEST(ConvMicroBatchesTest, LeNetHasTheBitsOfTheWholeBatch) {
  for (const std::int64_t rows : {7, 11, 13}) {
    expect_bits_of_the_whole(train_lenet, rows);
  }
}

// Kernels with groups, strides and dilations, of each channel by itself, and of
// one element; transposed ones; a norm and poolings between them.
class Net final : public nn::Cloneable<Net> {
 public:
  Net() {
    register_module("first", first_);
    register_module("each", each_);
    register_module("dilated", dilated_);
    register_module("groups", groups_);
    register_module("one", one_);
    register_module("up", up_);
    register_module("along", along_);
    register_module("fc", fc_);
  }
  Net(const Net& other, nn::Cloning& cloning)
      : Cloneable(other, cloning),
        first_(other.first_, cloning),
        each_(other.each_, cloning),
        dilated_(other.dilated_, cloning),
        groups_(other.groups_, cloning),
        one_(other.one_, cloning),
        up_(other.up_, cloning),
        along_(other.along_, cloning),
        fc_(other.fc_, cloning) {}

  Tensor forward(const Tensor& x) const override {
    Tensor y = gelu(each_(relu(first_(x))));  // (n, 8, 10, 10)
    y = avg_pool2d(one_(relu(groups_(dilated_(y)))),
                   {.kernel = 2});         // (n, 6, 4, 4)
    y = relu(up_(y));                      // (n, 4, 8, 8)
    y = along_(flatten(std::move(y), 2));  // (n, 3, 32)
    return fc_(flatten(std::move(y), 1));
  }

 private:
  nn::Conv2d first_{3, 8, 3, {.padding = 1}};
  nn::Conv2d each_{8, 8, 3, {.padding = 1, .groups = 8}};
  nn::Conv2d dilated_{8, 12, 2, {.dilation = 2, .groups = 2}};
  nn::GroupNorm groups_{3, 12};
  nn::Conv2d one_{12, 6, 1, {}};
  nn::ConvTranspose2d up_{6, 4, 2, {.stride = 2}};
  nn::Conv1d along_{4, 3, 3, {.stride = 2, .padding = 1}};
  nn::Linear fc_{96, 5};
};

Outcome train_net(const CompileOptions& options, std::int64_t rows,
                  int threads) {
  seed(6);
  Net model;
  return train_on(model, {3, 10, 10}, rows, options, threads);
}

// In pairs of samples: each part but the last has an even number of them.
TEST(ConvMicroBatchesTest, InBf16PartsAreOfPairs) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const UsePrecision guard(Precision::kBf16);
  for (const std::int64_t rows : {2, 3, 5, 7, 8}) {
    const Outcome whole = train_lenet({}, rows, 1);
    for (const std::uint32_t count : {2U, 3U, 7U}) {
      const Outcome some =
          train_lenet({.passes = {.micro_batches = count}}, rows, 2);
      const auto pairs = static_cast<std::uint32_t>((rows + 1) / 2);
      EXPECT_EQ(some.fitting.micro_batches,
                pairs == 1 ? 0 : std::min(count, pairs));
      EXPECT_EQ(some.losses, whole.losses) << count << " of " << rows;
      EXPECT_EQ(some.state, whole.state) << count << " of " << rows;
    }
  }
}

TEST(ConvMicroBatchesTest, EveryKindOfConvolutionHasTheBitsOfTheWholeBatch) {
  for (const std::int64_t rows : {7, 11, 13}) {
    expect_bits_of_the_whole(train_net, rows);
  }
}

Outcome train_vgg(const CompileOptions& options) {
  seed(7);
  models::Vgg11 model({.width = 4, .classes = 5});
  return train_on(model, {3, 32, 32}, 8, options, 1);
}

// Gradients that are used up one by one are not all there at once, but in parts
// they are.
TEST(ConvMicroBatchesTest, FourPartsAreTriedWhereTwoNeedMoreThanTheWhole) {
  const Outcome whole = train_vgg({});
  const Outcome two = train_vgg({.passes = {.micro_batches = 2}});
  const Outcome four = train_vgg({.passes = {.micro_batches = 4}});
  ASSERT_GT(two.arena, whole.arena);
  ASSERT_LT(four.arena, whole.arena);
  const Outcome some =
      train_vgg({.arena_limit = four.arena, .recompute = false});
  EXPECT_EQ(some.fitting.micro_batches, 4U);
  EXPECT_EQ(some.losses, whole.losses);
  EXPECT_EQ(some.state, whole.state);
}

Outcome train_normed(const CompileOptions& options, std::int64_t rows,
                     int threads) {
  seed(8);
  nn::Sequential model(nn::Conv2d(3, 8, 3), nn::BatchNorm2d(8), nn::ReLU(),
                       nn::Conv2d(8, 8, 3), nn::BatchNorm2d(8), nn::ReLU(),
                       nn::Flatten(), nn::Linear(288, 5));
  return train_on(model, {3, 10, 10}, rows, options, threads);
}

TEST(ConvMicroBatchesTest, NormsOverTheBatchSeeAllOfIt) {
  const Outcome whole = train_normed({}, 7, 1);
  const Outcome some = train_normed({.passes = {.micro_batches = 3}}, 7, 2);
  EXPECT_THAT(some.together, Contains("batch_norm"));
  EXPECT_EQ(some.losses, whole.losses);
  EXPECT_EQ(some.state, whole.state);
}

TEST(ConvMicroBatchesTest, ARefusalNamesWhatNeedsTheWholeBatch) {
  EXPECT_THAT(message_of([] { train_normed({.arena_limit = 1024}, 7, 1); }),
              HasSubstr("batch_norm needs the whole batch at once"));
  EXPECT_THAT(message_of([] { train_lenet({.arena_limit = 1024}, 7, 1); }),
              AllOf(HasSubstr("does not fit"), Not(HasSubstr("at once"))));
}

}  // namespace
}  // namespace neap::compiler
