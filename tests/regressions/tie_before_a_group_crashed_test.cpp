// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A group that was added to an optimizer two of whose parameters had been tied
// after it was made ended the process: the tensor that it met twice was looked
// for among the new ones, where it is not.
#include <gtest/gtest.h>

#include "neap/graph/vertex.hpp"
#include "neap/nn/linear.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"

namespace neap::optim {
namespace {

struct Pair : nn::Module {
  nn::Linear a{4, 4};
  nn::Linear b{4, 4};
  Pair() {
    register_module("a", a);
    register_module("b", b);
  }
};

TEST(TieBeforeAGroupTest, AGroupOfOthersIsAdded) {
  Pair pair;
  SGD sgd(pair.parameters(), {.lr = 0.1});
  pair.tie("b.weight", pair.a.weight());
  const Tensor own = requires_grad_(ones({4}));
  sgd.add_group({{"own", own, {}}}, {.lr = 0.3});
  EXPECT_EQ(sgd.group_count(), 2);
}

TEST(TieBeforeAGroupTest, OneThatIsThereIsRefusedByName) {
  Pair pair;
  SGD sgd(pair.parameters(), {.lr = 0.1});
  pair.tie("b.weight", pair.a.weight());
  try {
    sgd.add_group({{"again", pair.b.weight(), {}}}, {.lr = 0.3});
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "optimizer: \"again\" is given twice (here or in another "
                 "group)");
  }
  EXPECT_EQ(sgd.group_count(), 1);
}

}  // namespace
}  // namespace neap::optim
