// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A weight and its moments are updated some elements at a time where memory is
// scarce: a run needs the gradient and some of each, not four times the weight.
#include <gtest/gtest.h>

#include "neap/base/error.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/compile/away_for_test.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/program/print.hpp"

namespace neap::compiler {
namespace {

// One weight of 4 MiB, and two moments as large.
struct Wide {
  static constexpr std::int64_t kSide = 1024;
  static constexpr Bytes kSize = kSide * kSide * 4;

  explicit Wide(const SpillOptions& spill)
      : domain(memory::Domain::create({})) {
    const memory::UseDomain here(*domain);
    const UseGenerator use(generator);
    const BornAway born(spill);
    weight = requires_grad_(empty({kSide, kSide}));
    nn::normal_(weight, 0.0, 0.1);
    adam.emplace(ParameterList{{memory::String("w"), weight, {}}},
                 optim::AdamOptions{.lr = 1e-3});
  }
  // Losses of some steps, and what a run had in its arena.
  std::vector<double> train(const CompileOptions& options) {
    const memory::UseDomain here(*domain);
    const UseGenerator use(generator);
    auto step = neap::compile(
        [this](const Tensor& x) {
          Tensor loss = sum(square(matmul(x, weight)));
          backward(loss);
          adam->step({.release_gradients = true});
          return loss;
        },
        options);
    std::vector<double> losses;
    losses.reserve(3);
    for (int i = 0; i < 3; ++i) {
      losses.push_back(step(randn({4, kSide})).item());
    }
    arena = step.arena_bytes();
    fitting = step.program().fitting;
    away = step.program().away.size();
    return losses;
  }

  memory::Domain::Handle domain;
  Generator generator{7};
  Tensor weight;
  std::optional<optim::AdamW> adam;
  Bytes arena = 0;
  Fitting fitting{};
  std::size_t away = 0;
};

class AwayPartsTest : public AwayTest {
 protected:
  CompileOptions kept_tightly(Bytes part) const {
    CompileOptions options{.spill = spill(),
                           .debug = {.away = Debug::Away::kTight}};
    options.spill.part = part;
    return options;
  }
};

TEST_F(AwayPartsTest, AnUpdateHasSomeOfEachAtATime) {
  Wide plain(spill());
  const auto losses = plain.train({});
  Wide whole(spill());
  EXPECT_EQ(whole.train(kept_tightly(4 * kMiB)), losses);
  EXPECT_GE(whole.arena, 4 * Wide::kSize);  // gradient, weight, two moments
  Wide parts(spill());
  EXPECT_EQ(parts.train(kept_tightly(64 * kKiB)), losses);
  EXPECT_LE(parts.arena, 2 * Wide::kSize + kMiB);  // a product reads the weight
  EXPECT_EQ(parts.away, 1U + 3 * 16);
  EXPECT_EQ(parts.fitting.away, 2U);
  EXPECT_EQ(parts.fitting.weights, 1U);
  EXPECT_EQ(parts.fitting.away_bytes, 3 * Wide::kSize);
  EXPECT_EQ(floats(parts.weight), floats(plain.weight));
}

// A budget is met that is not met with the weight as a whole.
TEST_F(AwayPartsTest, ABudgetOfLessIsMet) {
  if (base::kAddressSanitizer) {
    GTEST_SKIP() << "blocks are held by the byte: the room is another one";
  }
  Wide plain(spill());
  const auto losses = plain.train({});
  const auto within = [&](Wide& net, Bytes part) {
    const memory::Stats stats = net.domain->stats();
    CompileOptions options{.budget = stats.held + stats.external + 11 * kMiB,
                           .spill = spill()};
    options.spill.part = part;
    return options;
  };
  Wide parts(spill());
  EXPECT_EQ(parts.train(within(parts, 64 * kKiB)), losses);
  Wide whole(spill());
  EXPECT_THROW(whole.train(within(whole, 4 * kMiB)), PlanError);
}

// Parts of an update begin where parts of the file do.
TEST_F(AwayPartsTest, ASizeMayBeNoPowerOfTwo) {
  Wide plain(spill());
  const auto losses = plain.train({});
  for (const Bytes part : {Bytes{65 * 4096}, Bytes{3 * 64 * kKiB}}) {
    Wide parts(spill());
    EXPECT_EQ(parts.train(kept_tightly(part)), losses) << part;
    EXPECT_GT(parts.away, 4U);
  }
}

TEST_F(AwayPartsTest, APartHasWholeElements) {
  AwayNet net;
  for (const Bytes part : {Bytes{0}, Bytes{-64}, Bytes{100}}) {
    CompileOptions options{.spill = spill()};
    options.spill.part = part;
    EXPECT_THROW(net.compiled(options), ValueError) << part;
  }
}

}  // namespace
}  // namespace neap::compiler
