// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/group.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/dist/fake_engine_for_test.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::dist {
namespace {

using testing::HasSubstr;

// The engine is the world's.
Group group_of(Engine& engine, const GroupOptions& options = {}) {
  return Group(std::shared_ptr<Engine>(&engine, [](Engine*) {}), options);
}

TEST(GroupTest, OfOneChangesNothing) {
  const Group alone;
  const Tensor x = ones({3});
  alone.sum(x, "x");
  EXPECT_EQ(x.at({1}), 1.0);
  EXPECT_EQ(alone.sum(2.5, "loss"), 2.5);
  EXPECT_EQ(alone.ranks(), 1);
  EXPECT_EQ(alone.engine_name(), "none");
  alone.agree(std::array{Fact{"batch", 64}});
  alone.meet("the end");
}

TEST(GroupTest, SumsTensorsInPlace) {
  FakeWorld world(4, {});
  world.run([](Engine& engine) {
    const Group group = group_of(engine);
    const Tensor x = full({5, 7}, 1.0 + group.rank());
    group.sum(x, "x");
    EXPECT_EQ(x.at({4, 6}), 10.0);
    const Tensor y = full({3}, 0.5, f64);
    group.sum(y, "y");
    EXPECT_EQ(y.at({2}), 2.0);
    EXPECT_EQ(group.sum(1.0 * group.rank(), "loss"), 6.0);
    EXPECT_GT(group.counts().sent, 0);
  });
}

// A graph that has saved a tensor sees that it was written.
TEST(GroupTest, ASumIsAWrite) {
  FakeWorld world(2, {});
  world.run([](Engine& engine) {
    const Group group = group_of(engine);
    const Tensor w = requires_grad_(ones({3}));
    const Tensor x = ones({3});
    const Tensor loss = sum(w * x);
    group.sum(x, "x");
    EXPECT_THROW(backward(loss), GraphError);
  });
}

TEST(GroupTest, WhatDiffersIsNamed) {
  FakeWorld world(4, {});
  world.run([](Engine& engine) {
    const Group group = group_of(engine);
    const std::uint64_t batch = group.rank() == 2 ? 32 : 64;
    try {
      group.agree(std::array{Fact{"seed", 7}, Fact{"batch", batch}});
      ADD_FAILURE();
    } catch (const RankMismatch& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr("differ in 'batch': 64 on ranks 0, 1 and 3, 32 on "
                            "rank 2"));
    }
    group.agree(std::array{Fact{"seed", 7}});  // it goes on
    const bool is_first = group.rank() == 0;
    EXPECT_THROW(
        group.agree(is_first ? std::array{Fact{"ab", 1}, Fact{"c", 2}}
                             : std::array{Fact{"a", 1}, Fact{"bc", 2}}),
        RankMismatch);
  });
}

TEST(GroupTest, ShapesAreEqual) {
  FakeWorld world(2, {});
  world.run([](Engine& engine) {
    const Group group = group_of(engine);
    const Tensor x = ones({group.rank() == 0 ? 6 : 8});
    EXPECT_THROW(group.sum(x, "x"), RankMismatch);
    const Tensor turned = ones(group.rank() == 0 ? Shape{2, 3} : Shape{3, 2});
    EXPECT_THROW(group.sum(turned, "x"), RankMismatch);
  });
}

// Ranks at different places neither cross their numbers nor hang.
TEST(GroupTest, RanksAtOtherPlacesAreAMismatch) {
  FakeWorld world(2, {});
  world.run([](Engine& engine) {
    const Group group = group_of(engine);
    const Tensor x = ones({3});
    const bool is_first = group.rank() == 0;
    EXPECT_THROW(group.sum(x, is_first ? "a" : "b"), RankMismatch);
    EXPECT_THROW(group.sum(1.0, is_first ? "a" : "b"), RankMismatch);
    const auto sum_or_meet = [&](bool sums) {
      if (sums) {
        group.sum(1.0, "loss");
      } else {
        group.meet("the end");
      }
    };
    EXPECT_THROW(sum_or_meet(is_first), RankMismatch);
    EXPECT_THROW(group.sum(is_first ? x : ones({0}), "x"), RankMismatch);
    EXPECT_EQ(x.at({1}), 1.0);
    group.sum(x, "x");  // it goes on
    EXPECT_EQ(x.at({1}), 2.0);
  });
}

// The others do not wait for a rank that cannot take part.
TEST(GroupTest, ARefusalIsToldToAll) {
  FakeWorld world(4, {});
  world.run([](Engine& engine) {
    const Group group = group_of(engine);
    const std::int64_t start = engine.now();
    if (group.rank() == 2) {
      EXPECT_THROW(group.sum(ones({3}, i64), "x"), DTypeError);
    } else {
      EXPECT_THROW(group.sum(ones({3}), "x"), RankMismatch);
    }
    EXPECT_LE(engine.now() - start, 1'000'000'000);
    EXPECT_EQ(group.sum(1.0, "loss"), 4.0);
  });
}

// Late messages of a failed exchange would be taken for those of the next.
TEST(GroupTest, ABrokenGroupIsOfNoUse) {
  FakeWorld world(2, {});
  world.run([](Engine& engine) {
    const Group group = group_of(engine, {.deadline = 5.0});
    if (group.rank() == 0) {
      EXPECT_THROW(group.sum(1.0, "first"), RankLost);
      EXPECT_THROW(group.sum(10.0, "second"), DistError);
    }
  });
}

TEST(GroupTest, WhatAGraphHasRecordedIsNotWritten) {
  const Group alone;
  const Tensor w = requires_grad_(ones({3}));
  EXPECT_THROW(alone.sum(w, "w"), GraphError);
  EXPECT_THROW(alone.sum(w * 2.0, "y"), GraphError);
  const NoGrad no_grad;
  alone.sum(w, "w");
}

TEST(GroupTest, WhatItCannotSumIsRefused) {
  const Group alone;
  EXPECT_THROW(alone.sum(ones({3}, i64), "x"), DTypeError);
  EXPECT_THROW(alone.sum(transpose(ones({2, 3})), "x"), ShapeError);
  EXPECT_THROW(alone.sum(Tensor(), "x"), UseAfterRelease);
}

// A run of the program would not exchange anything, and go on with old values.
TEST(GroupTest, ACompiledStepIsRefused) {
  const Group alone;
  const Tensor captured = ones({3});
  const auto refused = [](auto&& exchange) {
    auto step = compile([&](const Tensor& x) {
      exchange(x);
      return x * 2.0;
    });
    EXPECT_THROW(step(ones({3})), TraceError);
  };
  refused([&](const Tensor& x) { alone.sum(x, "x"); });
  refused([&](const Tensor&) { alone.sum(captured, "x"); });
  refused([&](const Tensor&) { alone.sum(1.0, "loss"); });
  refused([&](const Tensor&) { alone.meet("here"); });
  refused([&](const Tensor&) { alone.agree({}); });
}

TEST(GroupTest, RanksAreAPowerOfTwo) {
  EXPECT_THROW(Group(std::shared_ptr<Engine>()), ValueError);
  FakeWorld three(3, {});
  three.run([](Engine& engine) {
    try {
      group_of(engine);
      ADD_FAILURE();
    } catch (const ValueError& error) {
      EXPECT_THAT(error.what(), HasSubstr("start 2"));
    }
  });
  FakeWorld two(2, {});
  two.run([](Engine& engine) {
    EXPECT_THROW(group_of(engine, {.deadline = 0.0}), ValueError);
    EXPECT_THROW(group_of(engine, {.deadline = std::nan("")}), ValueError);
  });
}

TEST(GroupTest, ARankThatIsLostIsNamedInTime) {
  FakeWorld world(2, {});
  world.run([](Engine& engine) {
    const Group group = group_of(engine, {.deadline = 5.0});
    if (group.rank() == 1) {
      return;  // it has ended
    }
    const std::int64_t start = engine.now();
    try {
      group.sum(ones({3}), "head.weight");
      ADD_FAILURE();
    } catch (const RankLost& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank 1 has not answered rank 0"));
      EXPECT_THAT(error.what(), HasSubstr("'head.weight'"));
    }
    EXPECT_LE(engine.now() - start, 6'000'000'000);
  });
}

}  // namespace
}  // namespace neap::dist
