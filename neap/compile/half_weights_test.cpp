// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled steps that read constants in bf16, within limits: with calls that
// run again, a head in pieces, rows in parts, a file. Their losses and what
// they train have the bits of an eager step on weights that were widened
// before.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/compile/plan.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::compiler {
namespace {

constexpr std::int64_t kVocab = 1'000;
constexpr std::int64_t kRows = 128;
constexpr std::int64_t kWidth = 64;
constexpr int kLayers = 5;

// Constant matrices with a trained bias each, between a table and a head.
class Net {
 public:
  explicit Net(DType dtype) {
    Generator generator(3);
    const UseGenerator use(generator);
    table_ = cast(cast(randn({kVocab, kWidth}), bf16), dtype);
    head_ = cast(cast(randn({kVocab, kWidth}), bf16), dtype);
    for (int i = 0; i < kLayers; ++i) {
      weights_.push_back(
          cast(cast(randn({kWidth, kWidth}) * 0.2, bf16), dtype));
      biases_.push_back(requires_grad_(randn({kWidth})));
    }
    ParameterList trained;
    for (const Tensor& bias : biases_) {
      trained.push_back({.name = "bias", .tensor = bias, .aliases = {}});
    }
    optimizer_.emplace(trained, optim::AdamOptions{.lr = 0.01});
  }

  Tensor step(const Tensor& tokens, const Tensor& targets) {
    Tensor x = embedding(table_, tokens);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      x = x + tanh(gelu_linear(x, weights_[i], biases_[i]));
    }
    const Tensor loss = cross_entropy(linear(x, head_), targets);
    backward(loss);
    optimizer_->step();
    optimizer_->zero_grad();
    return loss.detach();
  }

  std::vector<double> trained() const {
    std::vector<double> all;
    for (const Tensor& bias : biases_) {
      const auto some = bias.to_vector();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

 private:
  Tensor table_;
  Tensor head_;
  std::vector<Tensor> weights_;
  std::vector<Tensor> biases_;
  std::optional<optim::AdamW> optimizer_;
};

struct Trained {
  std::vector<double> losses;
  std::vector<double> biases;
  Bytes arena = 0;
  Fitting fitting{};
};

class HalfWeightsCompileTest : public ::testing::Test {
 protected:
  Trained eager(DType dtype) const {
    Net net(dtype);
    Trained result;
    for (int i = 0; i < 3; ++i) {
      result.losses.push_back(net.step(tokens_, targets_).item());
    }
    result.biases = net.trained();
    return result;
  }

  Trained compiled(const CompileOptions& options) const {
    Net net(bf16);
    auto step = neap::compile(
        [&net](const Tensor& x, const Tensor& y) { return net.step(x, y); },
        options);
    Trained result;
    for (int i = 0; i < 3; ++i) {
      result.losses.push_back(step(tokens_, targets_).item());
    }
    result.biases = net.trained();
    result.arena = step.arena_bytes();
    result.fitting = step.program().fitting;
    return result;
  }

  void expect_same(const Trained& got) const {
    EXPECT_EQ(got.losses, want_.losses);
    EXPECT_EQ(got.biases, want_.biases);
  }

  Generator generator_{5};
  UseGenerator use_{generator_};
  Tensor tokens_ = randint(0, kVocab, {kRows});
  Tensor targets_ = randint(0, kVocab, {kRows});
  files::TemporaryFolder folder_;
  Trained want_ = eager(f32);
};

TEST_F(HalfWeightsCompileTest, HasTheBitsOfWidenedWeights) {
  expect_same(eager(bf16));
  expect_same(compiled({}));
}

TEST_F(HalfWeightsCompileTest, AHeadInPiecesHasThem) {
  const Trained some = compiled({.passes = {.pieces = 4}});
  EXPECT_GE(some.fitting.pieces, 3U);
  expect_same(some);
}

TEST_F(HalfWeightsCompileTest, LimitsAreMetWithThem) {
  const Bytes whole = compiled({}).arena;
  for (const int percent : {90, 70, 50, 30}) {
    for (const bool has_file : {false, true}) {
      CompileOptions options{.arena_limit = whole * percent / 100};
      if (has_file) {
        options.recompute = false;
        options.spill = {.folder = folder_.path(),
                         .write_rate = 4'000'000'000,
                         .fetch_rate = 4'000'000'000,
                         .least = 4 * kKiB};
      }
      const Trained some = compiled(options);
      EXPECT_LE(some.arena, options.arena_limit) << percent;
      EXPECT_TRUE(some.fitting.is_changed()) << percent;
      expect_same(some);
    }
  }
}

}  // namespace
}  // namespace neap::compiler
