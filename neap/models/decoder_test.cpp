// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/decoder.hpp"

#include <gmock/gmock.h>

#include "neap/memory/domain.hpp"
#include "neap/models/adapter.hpp"
#include "neap/models/llama.hpp"
#include "neap/nn/init.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"

namespace neap::models {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kVocab = 29;
constexpr std::int64_t kBlock = 160;

using Tokens = std::vector<std::int64_t>;

Tokens tokens_of(std::int64_t count, std::int64_t seed) {
  Tokens tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    tokens.push_back(seed / 65536 % kVocab);
  }
  return tokens;
}

struct Case {
  const char* name;
  std::unique_ptr<nn::Layer> (*make)();
};

LlamaOptions small_llama() {
  return {.vocab = kVocab,
          .block = kBlock,
          .layers = 3,
          .heads = 4,
          .kv_heads = 2,
          .dim = 32,
          .hidden = 48};
}
GptOptions small_gpt() {
  return {.vocab = kVocab, .block = kBlock, .layers = 3, .heads = 4, .dim = 32};
}

const Case kCases[] = {
    {"llama",
     []() -> std::unique_ptr<nn::Layer> {
       return std::make_unique<Llama>(small_llama());
     }},
    {"llama_window_yarn_bias",
     []() -> std::unique_ptr<nn::Layer> {
       LlamaOptions o = small_llama();
       o.window = 20;
       o.window_from = 1;
       o.qkv_bias = o.tie = true;
       o.rope = {.scaling = RotaryScaling::kLinear, .factor = 2.0};
       o.rope.stretch = 1.1;
       return std::make_unique<Llama>(o);
     }},
    {"llama_adapted",
     []() -> std::unique_ptr<nn::Layer> {
       auto model = std::make_unique<Llama>(small_llama());
       add_adapter(*model, {.lora = {.rank = 2}});
       for (const nn::Parameter& parameter : model->parameters()) {
         if (parameter.tensor.requires_grad()) {
           nn::normal_(parameter.tensor, 0.0, 0.3);
         }
       }
       return model;
     }},
    {"gpt",
     []() -> std::unique_ptr<nn::Layer> {
       return std::make_unique<Gpt>(small_gpt());
     }},
    {"gpt_rotary_swiglu",
     []() -> std::unique_ptr<nn::Layer> {
       GptOptions o = small_gpt();
       o.positions = GptPositions::kRotary;
       o.mlp = GptFeedForward::kSwiglu;
       o.norm = GptNormalise::kRmsNorm;
       return std::make_unique<Gpt>(o);
     }},
};

// Scores of what follows all tokens, computed whole.
std::vector<double> whole(const nn::Layer& model, const Tokens& tokens) {
  const NoGrad no_grad;
  const auto n = static_cast<std::int64_t>(tokens.size());
  Tensor input = zeros({1, n}, i64);
  std::ranges::copy(tokens, input.mutable_values<std::int64_t>().begin());
  const auto last = select(select(model(input), 0, 0), 0, n - 1).to_vector();
  return {last.begin(), last.end()};
}

std::vector<double> row_of(const Tensor& scores, std::int64_t sample) {
  const auto row = select(scores, 0, sample).to_vector();
  return {row.begin(), row.end()};
}

class DecoderTest : public ::testing::TestWithParam<Case> {
 protected:
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
};

INSTANTIATE_TEST_SUITE_P(Models, DecoderTest, ::testing::ValuesIn(kCases),
                         [](const auto& given) { return given.param.name; });

TEST_P(DecoderTest, HasTheScoresOfTheWholeTextAtEachToken) {
  const auto model = GetParam().make();
  model->eval();
  std::vector<Tokens> texts{tokens_of(3, 1), tokens_of(21, 2), tokens_of(1, 3)};
  Decoder decoder(*model, {.samples = 3});
  Tensor scores = decoder.start(texts);
  for (int step = 0; step < 90; ++step) {
    std::vector<std::int64_t> next;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ASSERT_EQ(row_of(scores, static_cast<std::int64_t>(i)),
                whole(*model, texts[i]))
          << "sample " << i << ", token " << texts[i].size();
      next.push_back(tokens_of(step + 2, static_cast<std::int64_t>(i)).back());
      texts[i].push_back(next.back());
    }
    scores = decoder.next(next);
  }
  EXPECT_EQ(decoder.traces(), 3);  // the prompts; 64 slots; 128
}

TEST_P(DecoderTest, IsPlannedBeforeItRuns) {
  const auto model = GetParam().make();
  model->eval();
  Decoder decoder(*model, {.samples = 2});
  EXPECT_EQ(decoder.cache().bytes(),
            decoder.cache().sizes().heads * 8 * 2 * 3 * 2 * kBlock * 4);
  const DecoderNeed said = decoder.prepare(20, 100);
  EXPECT_EQ(decoder.traces(), 3);
  const Bytes arena = decoder.arena_bytes();
  const std::vector<Tokens> prompts{tokens_of(20, 1), tokens_of(20, 2)};
  decoder.start(prompts);
  for (int step = 0; step < 80; ++step) {
    decoder.next(std::vector<std::int64_t>{1, 2});
  }
  EXPECT_EQ(decoder.traces(), 3);
  EXPECT_EQ(decoder.arena_bytes(), arena);
  EXPECT_EQ(said.arena, arena);
  Bytes weights = 0;
  for (const nn::Parameter& parameter : model->parameters()) {
    weights += parameter.tensor.element_count() * 4;
  }
  // Positions of a prompt's tokens are constants, a few numbers a layer.
  EXPECT_GE(said.persistent, weights + decoder.cache().bytes());
  EXPECT_LE(said.persistent, weights + decoder.cache().bytes() + 8 * 32 * 12);
  EXPECT_EQ(decoder.measured().arena, arena);
}

TEST_P(DecoderTest, AsksForNoMemoryForATokenFromTheThirdOn) {
  const auto model = GetParam().make();
  model->eval();
  Decoder decoder(*model);
  decoder.start(std::vector<Tokens>{tokens_of(5, 1)});
  const std::vector<std::int64_t> token{1};
  decoder.next(token);
  decoder.next(token);
  const auto before = domain_->requests();
  for (int step = 0; step < 40; ++step) {
    decoder.next(token);
  }
  EXPECT_EQ(domain_->requests(), before);
}

TEST_P(DecoderTest, HasTheSameBitsForAnyNumberOfThreads) {
  const auto model = GetParam().make();
  model->eval();
  const auto scores = [&](int threads) {
    threads::Pool pool(threads);
    const tensor::ExecutionGuard use(
        [&](tensor::Execution& e) { e.executor = &pool; });
    Decoder decoder(*model, {.samples = 2});
    decoder.start(std::vector<Tokens>{tokens_of(70, 1), tokens_of(3, 2)});
    return decoder.next(std::vector<std::int64_t>{1, 2}).to_vector();
  };
  const auto one = scores(1);
  EXPECT_EQ(scores(2), one);
  EXPECT_EQ(scores(3), one);
}

TEST_P(DecoderTest, GoesOnWhereASampleRestsOrIsFull) {
  const auto model = GetParam().make();
  model->eval();
  std::vector<Tokens> texts{tokens_of(4, 1), tokens_of(10, 2)};
  Decoder decoder(*model, {.samples = 2, .length = 12});
  decoder.start(texts);
  decoder.next(std::vector<std::int64_t>{Decoder::kRest, 3});
  texts[1].push_back(3);
  EXPECT_EQ(decoder.length(0), 4);
  Tensor scores = decoder.next(std::vector<std::int64_t>{5, 6});
  texts[0].push_back(5);
  texts[1].push_back(6);
  EXPECT_EQ(row_of(scores, 0), whole(*model, texts[0]));
  EXPECT_EQ(row_of(scores, 1), whole(*model, texts[1]));
  EXPECT_THAT(
      [&] {
        decoder.next(std::vector<std::int64_t>{1, 2});
      },
      ThrowsMessage<ValueError>(
          HasSubstr("sample 1 has all of its 12 tokens")));
  scores = decoder.next(std::vector<std::int64_t>{1, Decoder::kRest});
  texts[0].push_back(1);
  EXPECT_EQ(row_of(scores, 0), whole(*model, texts[0]));
}

class DecoderRefusesTest : public DecoderTest {};

INSTANTIATE_TEST_SUITE_P(Models, DecoderRefusesTest,
                         ::testing::Values(kCases[0]),
                         [](const auto& given) { return given.param.name; });

TEST_P(DecoderRefusesTest, WhatIsNoTextOfTheModel) {
  const auto model = GetParam().make();
  model->eval();
  Decoder decoder(*model, {.samples = 2, .length = 8});
  const auto expect = [&](const auto& act, const char* words) {
    EXPECT_THAT(act, ThrowsMessage<ValueError>(HasSubstr(words)));
  };
  const auto start = [&](std::vector<Tokens> prompts) {
    return [&decoder, prompts] { decoder.start(prompts); };
  };
  const auto next = [&](std::vector<std::int64_t> tokens) {
    return [&decoder, tokens] { decoder.next(tokens); };
  };
  expect(next({1, 2}), "next() before start()");
  expect(start({{1}}), "1 prompts for 2 samples");
  expect(start({{1}, {}}), "a prompt of 0 tokens");
  expect(start({{1}, Tokens(9, 1)}), "a prompt of 9 tokens, expected 1 to 8");
  expect(start({{1}, {kVocab}}), "no token 29, the model has 29");
  expect(start({{-1}, {1}}), "no token -1");
  decoder.start(std::vector<Tokens>{{1, 2}, {3}});
  expect(next({1}), "1 tokens for 2 samples");
  expect(next({1, kVocab}), "no token 29");
  EXPECT_EQ(decoder.length(0), 2);
  model->train();
  expect(next({1, 2}), "in training mode");
  model->eval();
  decoder.next(std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(decoder.length(0), 3);
  expect([&] { decoder.prepare(4, 9); }, "at most 8 in all");
  expect([&] { decoder.prepare(0, 4); }, "a prompt of 0");
}

// Its text would grow in the trace alone.
TEST_P(DecoderRefusesTest, AStepThatIsTraced) {
  const auto model = GetParam().make();
  model->eval();
  Decoder decoder(*model);
  decoder.start(std::vector<Tokens>{{1, 2}});
  auto step = neap::compile([&](const Tensor& x) {
    return decoder.next(std::vector<std::int64_t>{1}) + x;
  });
  EXPECT_THAT(
      [&] {
        step(zeros({1, kVocab}));
      },
      ThrowsMessage<TraceError>(HasSubstr("text that grows")));
}

TEST_P(DecoderRefusesTest, SizesThatAreNone) {
  const auto model = GetParam().make();
  model->eval();
  const auto make = [&](const DecoderOptions& options) {
    return [&model, options] { const Decoder decoder(*model, options); };
  };
  EXPECT_THAT(make({.length = kBlock + 1}),
              ThrowsMessage<ValueError>(HasSubstr("at most the model's 160")));
  EXPECT_THAT(make({.samples = 0}),
              ThrowsMessage<ValueError>(HasSubstr("0 samples")));
  EXPECT_THAT([] { const Decoder decoder(nn::Linear(2, 2)); },
              ThrowsMessage<ValueError>(HasSubstr("neither a Gpt nor")));
}

// A row beyond the trained length turns all of its keys further.
TEST_P(DecoderRefusesTest, PositionsThatAreScaledByTheLength) {
  LlamaOptions options = small_llama();
  options.rope.trained = 32;
  options.rope.factor = 2.0;
  Llama model(options);
  model.eval();
  Decoder longer(model, {.length = 33});
  EXPECT_THAT(
      [&] {
        longer.start(std::vector<Tokens>{{1, 2}});
      },
      ThrowsMessage<ValueError>(HasSubstr("make it 32 at most")));
  Decoder decoder(model, {.length = 32});
  const Tokens text{1, 2};
  EXPECT_EQ(row_of(decoder.start(std::vector<Tokens>{text}), 0),
            whole(model, text));
}

}  // namespace
}  // namespace neap::models
