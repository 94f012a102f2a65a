// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Costs that are measured: each call once, kept in a file, the same plan and
// the same bits with them.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/costs.hpp"
#include "neap/compile/lower.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/nn/linear.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

constexpr const char* kHeader = "neap costs 1\n";

class CostBookTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ / "costs.txt"; }
  std::string content() const {
    std::ostringstream out;
    out << std::ifstream(path()).rdbuf();
    return out.str();
  }
  void write(const std::string& text) const { std::ofstream(path()) << text; }

 private:
  std::filesystem::path folder_;
};

// Eight layers in a row, of which all but the first are alike.
struct World {
  World() {
    seed(3);
    for (int i = 0; i < 8; ++i) {
      layers.push_back(std::make_unique<nn::Linear>(64, 64));
    }
  }
  Tensor loss(const Tensor& x) {
    Tensor y = x;
    for (const auto& layer : layers) {
      y = gelu(layer->forward(y));
    }
    return sum(y);
  }
  std::vector<std::unique_ptr<nn::Linear>> layers;
};

Program traced_and_bound(World& world) {
  const auto step = [&](const Tensor& x) { return world.loss(x); };
  return std::move(lower(step, {tensor::Spec{f32, {32, 64}}}).program);
}

TEST_F(CostBookTest, EachDistinctCallIsMeasuredOnce) {
  World world;
  const Program program = traced_and_bound(world);
  const auto book = CostBook::make();
  const auto first = prices_of(program, book.get());
  const std::size_t known = book->size();
  EXPECT_GT(known, 0U);
  EXPECT_LT(known, program.calls.size());
  EXPECT_EQ(prices_of(program, book.get()), first);
  EXPECT_EQ(book->size(), known);
  EXPECT_EQ(book->measured(), known);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_GE(first[i], 1) << i;
  }
}

TEST_F(CostBookTest, MeasuringHoldsNothingAfterwards) {
  World world;
  const Program program = traced_and_bound(world);
  const auto book = CostBook::make();
  prices_of(program, book.get());
  memory::domain().trim();
  const Bytes live = memory::domain().stats().live;
  const auto other = CostBook::make();
  prices_of(program, other.get());
  const Bytes costs = static_cast<Bytes>(other->size()) * 2 *
                      static_cast<Bytes>(sizeof(double));
  EXPECT_LE(memory::domain().stats().live - live, 2 * costs + kKiB);
}

TEST_F(CostBookTest, AFileGivesTheSamePricesWithoutMeasuring) {
  World world;
  const Program program = traced_and_bound(world);
  const auto book = CostBook::open(path());
  const auto prices = prices_of(program, book.get());
  EXPECT_FALSE(std::filesystem::exists(path()));
  book->save();
  const std::string before = content();
  const auto again = CostBook::open(path());
  EXPECT_EQ(prices_of(program, again.get()), prices);
  EXPECT_EQ(again->measured(), 0U);
  again->save();
  EXPECT_EQ(content(), before);
}

TEST_F(CostBookTest, AFileThatIsNoneOfCostsIsRefused) {
  World world;
  const Program program = traced_and_bound(world);
  const auto book = CostBook::open(path());
  prices_of(program, book.get());
  book->save();
  const std::string good = content();
  for (std::size_t size = 0; size < good.size(); ++size) {
    write(good.substr(0, size));
    const bool is_whole = size >= 13 && (size - 13) % 37 == 0;
    if (is_whole) {
      EXPECT_NO_THROW(CostBook::open(path())) << size;
    } else {
      EXPECT_THROW(CostBook::open(path()), IoError) << size;
    }
  }
  std::string bad = good;
  std::swap(bad[13], bad[13 + 37]);  // out of order, most likely
  bad[14] = 'x';
  write(bad);
  EXPECT_THROW(CostBook::open(path()), IoError);
}

TEST_F(CostBookTest, AFullDiskLeavesTheOldFileAndTheCosts) {
  World world;
  const Program program = traced_and_bound(world);
  write(kHeader);
  files::FaultDoor door(files::system_door(), {.space = 40});
  const auto book = CostBook::open(path(), door);
  const auto prices = prices_of(program, book.get());
  EXPECT_THROW(book->save(), IoError);
  EXPECT_EQ(content(), kHeader);
  EXPECT_EQ(prices_of(program, book.get()), prices);
  EXPECT_THROW(book->save(), IoError);  // it is not forgotten
}

TEST_F(CostBookTest, WithoutMemoryTheTableServes) {
  World world;
  const Program program = traced_and_bound(world);
  const auto book = CostBook::make();
  memory::Domain& domain = memory::domain();
  for (std::int64_t n = 1; book->size() == 0; ++n) {
    domain.fail_at(n);
    const Bytes live = domain.stats().live;
    const std::int64_t ns = book->ns_of(program, program.calls[0]);
    EXPECT_EQ(ns == 0, book->size() == 0);
    EXPECT_TRUE(book->size() != 0 || domain.stats().live == live);
  }
  domain.fail_at(0);
  EXPECT_GT(book->ns_of(program, program.calls[0]), 0);
}

// Plans of a step differ with its costs; what it computes does not.
TEST_F(CostBookTest, AStepWithinALimitHasTheSameBits) {
  std::vector<std::uint64_t> hashes;
  const auto book = CostBook::open(path());
  for (const auto& costs : {base::Ref<CostBook>(), book, book}) {
    World world;
    ParameterList parameters;
    for (std::size_t i = 0; i < world.layers.size(); ++i) {
      for (const auto& each : world.layers[i]->parameters()) {
        Parameter one;
        one.name = std::to_string(parameters.size());
        one.tensor = each.tensor;
        parameters.push_back(std::move(one));
      }
    }
    optim::Adam adam(parameters, {.lr = 1e-2});
    auto step = neap::compile(
        [&](const Tensor& x) {
          Tensor loss = world.loss(dropout(x, 0.1));
          backward(loss);
          adam.step();
          adam.zero_grad();
          return loss;
        },
        {.arena_limit = 100 * kKiB, .costs = costs});
    const Tensor x = ones({32, 64});
    for (int i = 0; i < 3; ++i) {
      step(x);
    }
    EXPECT_GT(step.program().fitting.again, 0);
    hashes.push_back(0);
    for (const auto& layer : world.layers) {
      for (const double w : layer->parameters()[0].tensor.to_vector()) {
        hashes.back() = hashes.back() * 31 + std::bit_cast<std::uint64_t>(w);
      }
    }
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
  EXPECT_GT(CostBook::open(path())->size(), 0U);
}

}  // namespace
}  // namespace neap::compiler
