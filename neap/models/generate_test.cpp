// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/generate.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "neap/models/llama.hpp"

namespace neap::models {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

using Tokens = std::vector<std::int64_t>;

// How often each of four tokens was chosen.
std::vector<double> shares(const SamplingOptions& options) {
  const std::vector<float> scores{0.0F, 2.0F, 1.0F, -1.0F};
  constexpr int kDraws = 20000;
  TokenSampler sampler(options, 5);
  std::vector<double> counts(scores.size());
  for (int i = 0; i < kDraws; ++i) {
    counts[static_cast<std::size_t>(sampler.choose(scores))] += 1.0 / kDraws;
  }
  return counts;
}

void expect_near(const std::vector<double>& is, std::vector<double> weights) {
  double total = 0.0;
  for (const double w : weights) {
    total += w;
  }
  for (std::size_t i = 0; i < is.size(); ++i) {
    EXPECT_NEAR(is[i], weights[i] / total, 0.015) << i;
  }
}

TEST(TokenSamplerTest, ChoosesByShares) {
  expect_near(shares({}), {1.0, std::exp(2.0), std::exp(1.0), std::exp(-1.0)});
  expect_near(shares({.temperature = 0.5}),
              {1.0, std::exp(4.0), std::exp(2.0), std::exp(-2.0)});
}

TEST(TokenSamplerTest, ChoosesAmongTheLikeliest) {
  expect_near(shares({.top_k = 2}), {0.0, std::exp(2.0), std::exp(1.0), 0.0});
  expect_near(shares({.top_k = 9}),
              {1.0, std::exp(2.0), std::exp(1.0), std::exp(-1.0)});
  // Shares 0.088, 0.644, 0.237, 0.032.
  expect_near(shares({.top_p = 0.6}), {0.0, 1.0, 0.0, 0.0});
  expect_near(shares({.top_p = 0.8}), {0.0, std::exp(2.0), std::exp(1.0), 0.0});
  expect_near(shares({.top_k = 3, .top_p = 0.95}),
              {1.0, std::exp(2.0), std::exp(1.0), 0.0});
}

TEST(TokenSamplerTest, TakesTheFirstOfTheLikeliestAtTemperature0) {
  TokenSampler greedy({.temperature = 0.0});
  EXPECT_EQ(greedy.choose(std::vector<double>{1.0, 3.0, 3.0, 2.0}), 1);
  EXPECT_EQ(greedy.choose(std::vector<double>{-HUGE_VAL, -5.0}), 1);
}

TEST(TokenSamplerTest, RefusesWhatIsNoScoreOrOption) {
  TokenSampler sampler({});
  const auto choose = [&](std::vector<double> scores) {
    return [&sampler, scores] { sampler.choose(scores); };
  };
  EXPECT_THAT(choose({1.0, std::nan("")}),
              ThrowsMessage<ValueError>(HasSubstr("of token 1 is nan")));
  EXPECT_THAT(choose({HUGE_VAL}),
              ThrowsMessage<ValueError>(HasSubstr("of token 0 is inf")));
  EXPECT_THAT(choose({-HUGE_VAL, -HUGE_VAL}),
              ThrowsMessage<ValueError>(HasSubstr("none of them")));
  EXPECT_THAT(choose({}), ThrowsMessage<ValueError>(HasSubstr("0 scores")));
  const auto make = [](const SamplingOptions& options) {
    return [options] { const TokenSampler made(options); };
  };
  EXPECT_THAT(make({.temperature = -1.0}),
              ThrowsMessage<ValueError>(HasSubstr("temperature -1")));
  EXPECT_THAT(make({.temperature = std::nan("")}),
              ThrowsMessage<ValueError>(HasSubstr("temperature nan")));
  EXPECT_THAT(make({.top_k = -1}),
              ThrowsMessage<ValueError>(HasSubstr("top_k -1")));
  EXPECT_THAT(make({.top_p = 0.0}),
              ThrowsMessage<ValueError>(HasSubstr("top_p 0")));
}

class GenerateTest : public ::testing::Test {
 protected:
  GenerateTest() { model_.eval(); }

  std::vector<Tokens> texts(std::vector<Tokens> prompts,
                            const GenerateOptions& options,
                            std::int64_t length = 64) {
    Decoder decoder(model_,
                    {.samples = static_cast<std::int64_t>(prompts.size()),
                     .length = length});
    return generate(decoder, prompts, options);
  }

  Generator generator_{3};
  UseGenerator use_{generator_};
  Llama model_{{.vocab = 17,
                .block = 64,
                .layers = 2,
                .heads = 4,
                .kv_heads = 2,
                .dim = 16,
                .hidden = 20}};
};

TEST_F(GenerateTest, GivesASampleTheSameTokensAloneAndBesideOthers) {
  const std::vector<Tokens> prompts{{1, 2, 3}, {4}, {5, 6, 7, 8, 9}};
  const GenerateOptions options{.tokens = 30, .seed = 11};
  const auto together = texts(prompts, options);
  ASSERT_THAT(together, Each(SizeIs(30)));
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_THAT(texts({prompts[i]}, {.tokens = 30, .seed = 11 + i}),
                ElementsAre(together[i]));
  }
  EXPECT_NE(together[0], together[1]);
}

TEST_F(GenerateTest, EndsASampleAtAStopTokenAndWhereItIsFull) {
  const auto free = texts({{1, 2}, {3}}, {.tokens = 40, .seed = 2});
  const std::int64_t stop = free[0][5];
  const auto cut =
      texts({{1, 2}, {3}}, {.tokens = 40, .seed = 2, .stop_tokens = {stop}});
  for (std::size_t i = 0; i < 2; ++i) {
    const auto end = std::ranges::find(free[i], stop);
    Tokens expected(free[i].begin(), end);
    if (end != free[i].end()) {
      expected.push_back(stop);
    }
    EXPECT_EQ(cut[i], expected);
  }
  // A prompt's length and the new tokens; the last of them is in no slot.
  const auto full = texts({{1, 2, 3, 4, 5, 6}, {3}}, {.tokens = 40}, 8);
  EXPECT_THAT(full[0], SizeIs(3));
  EXPECT_THAT(full[1], SizeIs(8));
}

TEST_F(GenerateTest, EndsWhereItIsTold) {
  std::vector<std::int64_t> seen;
  const auto cut =
      texts({{1}}, {.tokens = 40, .on_token = [&](auto, auto token) {
                      seen.push_back(token);
                      return seen.size() < 4;
                    }});
  EXPECT_EQ(cut[0], seen);
  EXPECT_THAT(cut[0], SizeIs(4));
  EXPECT_THAT(texts({{1}}, {.tokens = 0}), ElementsAre(Tokens{}));
  EXPECT_THAT([&] { texts({{1}}, {.tokens = -1}); },
              ThrowsMessage<ValueError>(HasSubstr("-1 tokens")));
}

}  // namespace
}  // namespace neap::models
