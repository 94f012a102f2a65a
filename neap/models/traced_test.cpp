// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training steps of the models as programs: the same bits as eager ones.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "neap/compile/interpret.hpp"
#include "neap/compile/trace.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/lstm.hpp"
#include "neap/models/training_test.hpp"
#include "neap/ops/cross_entropy.hpp"

namespace neap::models {
namespace {

using Arguments = std::array<Tensor, 2>;

struct Trained {
  std::vector<double> losses;
  std::vector<double> values;
  bool operator==(const Trained&) const = default;
};

// Some steps from the same start. `make`: a model; `loss_of`: its loss on two
// arguments.
template <class Make, class LossOf>
Trained train(const Make& make, const LossOf& loss_of,
              const Arguments& arguments, bool is_traced) {
  constexpr int kSteps = 4;
  Generator generator(7);
  const UseGenerator use(generator);
  auto model = make();
  optim::AdamW optimizer(model.parameters());
  const auto step = [&](std::span<const Tensor> in,
                        memory::Vector<Tensor>& out) {
    optimizer.zero_grad();
    out.push_back(loss_of(model, in[0], in[1]));
    backward(out.back());
    optimizer.step();
  };
  Trained trained;
  const std::array specs{arguments[0].spec(), arguments[1].spec()};
  std::optional<compiler::Program> program;
  for (int i = 0; i < kSteps; ++i) {
    memory::Vector<Tensor> results;
    if (is_traced && i > 0) {  // the first has no gradients to clear
      if (!program) {
        program = compiler::trace(step, specs);
      }
      results = compiler::interpret(*program, arguments);
    } else {
      step(arguments, results);
    }
    trained.losses.push_back(results.front().item());
  }
  trained.values = testing::values_of(model);
  return trained;
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
      EXPECT_EQ(train(make, loss_of, arguments, true),
                train(make, loss_of, arguments, false));
    }
  }
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
    EXPECT_EQ(train(make, loss_of, arguments, true),
              train(make, loss_of, arguments, false));
  }
}

}  // namespace
}  // namespace neap::models
