// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The lowest of all budgets granted everything, where those of -1 and 0 refuse;
// a number of layers beyond all memory was an error of the C++ library's.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "neap/memory/budget.hpp"
#include "neap/memory/external_room.hpp"
#include "neap/models/recurrent_lm.hpp"
#include "neap/nn/recurrent.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

constexpr Bytes kLowest = std::numeric_limits<Bytes>::min();

TEST(LowestBudgetTest, EveryBudgetBelowWhatIsHeldRefuses) {
  for (const Bytes bytes : {kLowest, kLowest + 1, Bytes{-1}, Bytes{0}}) {
    const Budget budget(bytes);
    EXPECT_THROW(ones({1 << 20}), OutOfMemory) << bytes;
  }
  EXPECT_NO_THROW(ones({1 << 20}));
}

TEST(LowestBudgetTest, ADomainsOwnBudgetRefusesLikewise) {
  for (const Bytes bytes : {kLowest, Bytes{-1}}) {
    EXPECT_THROW(Domain::create({.name = "none", .budget = bytes}), OutOfMemory)
        << bytes;
    const auto domain = Domain::create();
    domain->set_budget(bytes);
    const UseDomain use(*domain);
    EXPECT_THROW(ones({1 << 20}), OutOfMemory) << bytes;
  }
}

TEST(LowestBudgetTest, ThereIsNoRoomForExternalMemoryEither) {
  for (const Bytes bytes : {kLowest, Bytes{-1}}) {
    const Budget budget(bytes);
    EXPECT_THROW(memory::expect_external_room(kMiB, {}, memory::domain()),
                 OutOfMemory)
        << bytes;
  }
}

TEST(ManyLayersTest, MoreLayersThanMemoryCouldListAreRefused) {
  constexpr std::int64_t kMany = std::int64_t{1} << 60;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t layers : {kMany, kMost}) {
    for (const bool both : {false, true}) {
      const nn::RecurrentOptions options{.num_layers = layers,
                                         .bidirectional = both};
      EXPECT_THROW(nn::LSTM(4, 4, options), ValueError);
      EXPECT_THROW(nn::GRU(4, 4, options), ValueError);
      EXPECT_THROW(nn::RNN(4, 4, options), ValueError);
    }
    EXPECT_THROW(models::LstmLm({.layers = layers}), ValueError);
  }
}

}  // namespace
}  // namespace neap
