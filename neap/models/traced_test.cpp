// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training steps of the models as programs, interpreted and as plans: the same
// bits as eager ones.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "neap/compile/compile.hpp"
#include "neap/compile/trace.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/lenet.hpp"
#include "neap/models/lstm.hpp"
#include "neap/models/recurrent_lm.hpp"
#include "neap/models/training_test.hpp"
#include "neap/models/vgg.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/precision.hpp"
#include "neap/program/interpret.hpp"

namespace neap::models {
namespace {

using Arguments = std::array<Tensor, 2>;

struct Trained {
  std::vector<double> losses;
  std::vector<double> values;
  bool operator==(const Trained&) const = default;
};

enum class By { kEager, kInterpreter, kPlan };

// Some steps from the same start. `make`: a model; `loss_of`: its loss on two
// arguments.
template <class Make, class LossOf>
Trained train(const Make& make, const LossOf& loss_of,
              const Arguments& arguments, By by) {
  constexpr int kSteps = 10;
  Generator generator(7);
  const UseGenerator use(generator);
  auto model = make();
  optim::AdamW optimizer(model.parameters());
  const auto step = [&](const Tensor& x, const Tensor& y) {
    Tensor loss = loss_of(model, x, y);
    backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    return loss;
  };
  auto planned = compile(step);
  std::optional<compiler::Program> program;
  const auto run = [&]() -> double {
    if (by == By::kEager) {
      return step(arguments[0], arguments[1]).item();
    }
    if (by == By::kPlan) {
      return planned(arguments[0], arguments[1]).item();
    }
    if (!program) {
      program = compiler::trace(
          [&](std::span<const Tensor> in, memory::Vector<Tensor>& out) {
            out.push_back(step(in[0], in[1]));
          },
          std::array{arguments[0].spec(), arguments[1].spec()});
    }
    return compiler::interpret(*program, arguments).front().item();
  };
  Trained trained;
  for (int i = 0; i < kSteps; ++i) {
    trained.losses.push_back(run());
  }
  trained.values = testing::values_of(model);
  return trained;
}

template <class Make, class LossOf>
void expect_same_bits(const Make& make, const LossOf& loss_of,
                      const Arguments& arguments) {
  const Trained eager = train(make, loss_of, arguments, By::kEager);
  EXPECT_EQ(train(make, loss_of, arguments, By::kInterpreter), eager);
  EXPECT_EQ(train(make, loss_of, arguments, By::kPlan), eager);
}

TEST(TracedModelTest, GptTrainsToTheSameBits) {
  const auto loss_of = [](Gpt& model, const Tensor& tokens,
                          const Tensor& targets) {
    return model.loss(tokens, targets);
  };
  for (const std::int64_t batch : {1, 7, 64}) {
    for (const GptKeep keep : {GptKeep::kEverything, GptKeep::kNothing}) {
      const auto make = [keep] {
        return Gpt({.vocab = 13,
                    .block = 6,
                    .layers = 2,
                    .heads = 2,
                    .dim = 8,
                    .dropout = 0.1,
                    .keep = keep});
      };
      const Arguments arguments{randint(0, 13, {batch, 6}),
                                randint(0, 13, {batch, 6})};
      expect_same_bits(make, loss_of, arguments);
    }
  }
}

template <class Net, class Options>
void expect_same_bits_of_images(const Options& options) {
  const auto make = [&] { return Net(options); };
  const auto loss_of = [](Net& model, const Tensor& x, const Tensor& labels) {
    return cross_entropy(model(x), labels);
  };
  const Shape& image = options.image;
  for (const std::int64_t batch : {1, 5}) {
    const Arguments arguments{rand({batch, image[0], image[1], image[2]}),
                              randint(0, options.classes, {batch})};
    expect_same_bits(make, loss_of, arguments);
  }
}

void expect_same_bits_of_all_nets() {
  expect_same_bits_of_images<LeNet>(
      LeNetOptions{.image = {1, 11, 9}, .channels = {5, 3}, .classes = 4});
  expect_same_bits_of_images<Vgg11>(
      VggOptions{.image = {3, 32, 33}, .width = 3, .classes = 4});
}

TEST(TracedModelTest, NetsOfConvolutionsTrainToTheSameBits) {
  expect_same_bits_of_all_nets();
}

TEST(TracedModelTest, NetsOfConvolutionsTrainToTheSameBitsInBf16) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const UsePrecision guard(Precision::kBf16);
  expect_same_bits_of_all_nets();
}

TEST(TracedModelTest, LstmTrainsToTheSameBits) {
  const auto make = [] {
    return Lstm({.features = 3,
                 .hidden = 5,
                 .layers = 2,
                 .outputs = 4,
                 .dropout = 0.2});
  };
  const auto loss_of = [](Lstm& model, const Tensor& x, const Tensor& labels) {
    return cross_entropy(model(x), labels);
  };
  for (const std::int64_t batch : {1, 7, 64, 200}) {
    const Arguments arguments{rand({batch, 5, 3}), randint(0, 4, {batch})};
    expect_same_bits(make, loss_of, arguments);
  }
}

template <class Lm>
void expect_same_bits_of_lm() {
  const auto make = [] {
    return Lm({.vocab = 13,
               .dim = 6,
               .hidden = 6,
               .layers = 2,
               .dropout = 0.2,
               .tie = true});
  };
  const auto loss_of = [](Lm& model, const Tensor& tokens,
                          const Tensor& targets) {
    return model.loss(tokens, targets);
  };
  for (const std::int64_t batch : {1, 7, 64}) {
    const Arguments arguments{randint(0, 13, {batch, 9}),
                              randint(0, 13, {batch, 9})};
    expect_same_bits(make, loss_of, arguments);
  }
}

TEST(TracedModelTest, LstmLmTrainsToTheSameBits) {
  expect_same_bits_of_lm<LstmLm>();
}

TEST(TracedModelTest, GruLmTrainsToTheSameBits) {
  expect_same_bits_of_lm<GruLm>();
}

TEST(TracedModelTest, InBf16TheyTrainToTheSameBits) {
  kernels::isa();
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const UsePrecision guard(Precision::kBf16);
  const Arguments arguments{randint(0, 13, {7, 9}), randint(0, 13, {7, 9})};
  const auto loss_of = [](auto& model, const Tensor& tokens,
                          const Tensor& targets) {
    return model.loss(tokens, targets);
  };
  const auto make_gpt = [] {
    return Gpt({.vocab = 13,
                .block = 9,
                .layers = 2,
                .heads = 2,
                .dim = 8,
                .dropout = 0.1,
                .keep = GptKeep::kNothing});
  };
  expect_same_bits(make_gpt, loss_of, arguments);
  expect_same_bits([] { return LstmLm({.vocab = 13, .dim = 6, .hidden = 7}); },
                   loss_of, arguments);
  expect_same_bits([] { return GruLm({.vocab = 13, .dim = 6, .hidden = 7}); },
                   loss_of, arguments);
}

}  // namespace
}  // namespace neap::models
