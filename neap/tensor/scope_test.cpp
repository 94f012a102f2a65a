// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Scopes over tensors without a graph; those over graphs are tested in
// autograd/.
#include "neap/memory/scope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using testing::HasSubstr;

// Every test runs in a domain of its own and ends with nothing live.
class ScopeTest : public testing::Test {
 protected:
  ~ScopeTest() override { EXPECT_EQ(live(), 0); }
  Bytes live() const { return domain_->stats().live; }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

std::string message_of(const Tensor& t) {
  try {
    t.shape();
  } catch (const UseAfterRelease& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(ScopeTest, FreesAtItsEndWhatWasCreatedInside) {
  Tensor copy;
  {
    const Scope scope;
    const Tensor t = zeros({1000});
    copy = t;
    EXPECT_EQ(scope.size(), 1);
    EXPECT_TRUE(copy.defined());
  }
  EXPECT_FALSE(copy.defined());
}

TEST_F(ScopeTest, FreesTheElementsOfARevokedHandleAtOnce) {
  Tensor copy;
  {
    const Scope scope;
    copy = zeros({1000});
  }
  EXPECT_LT(live(), 1000);  // the header, which the handle is in
}

TEST_F(ScopeTest, EveryQuestionToARevokedHandleNamesTheScope) {
  Tensor copy;
  {
    const Scope scope("step");
    copy = zeros({2});
  }
  EXPECT_THAT(message_of(copy), HasSubstr("(step)"));
  EXPECT_THAT(message_of(copy), HasSubstr("scope_test.cpp:"));
  EXPECT_THROW(copy.values<float>(), UseAfterRelease);
  EXPECT_THROW(copy.mutable_values<float>(), UseAfterRelease);
  EXPECT_THROW(copy.requires_grad(), UseAfterRelease);
  EXPECT_THROW(copy.grad(), UseAfterRelease);
  EXPECT_THROW(copy.detach(), UseAfterRelease);
  EXPECT_THROW(copy.alias(), UseAfterRelease);
  EXPECT_THROW(copy.to_vector(), UseAfterRelease);
  EXPECT_THROW(copy.is_alias_of(copy), UseAfterRelease);
  EXPECT_THROW(copy.scope_member(), UseAfterRelease);
}

TEST_F(ScopeTest, ARevokedHandleCanBeAssignedAnew) {
  Tensor t;
  {
    const Scope scope;
    t = zeros({2});
  }
  t = ones({3});
  EXPECT_EQ(t.size(0), 3);
}

TEST_F(ScopeTest, LeavesAloneWhatWasMadeOutside) {
  const Tensor before = zeros({2});
  {
    const Scope scope;
    const Tensor copy = before;
    EXPECT_EQ(scope.size(), 0);
  }
  EXPECT_TRUE(before.defined());
}

TEST_F(ScopeTest, KeepHandsTheResultOut) {
  const auto make = [] {
    Scope scope;
    const Tensor scratch = zeros({100});
    const Tensor y = ones({2});
    EXPECT_FALSE(scope.keeps(y.scope_member()));
    scope.keep(y);
    EXPECT_TRUE(scope.keeps(y.scope_member()));
    EXPECT_FALSE(scope.keeps(scratch.scope_member()));
    return y;
  };
  const Tensor y = make();
  EXPECT_EQ(y.at({1}), 1.0);
  EXPECT_LT(live(), 1000);
}

TEST_F(ScopeTest, KeepTakesSeveralAndRanges) {
  Scope outer;
  std::vector<Tensor> list;
  Tensor a;
  {
    Scope scope;
    a = zeros({1});
    list = {ones({1}), ones({2})};
    const auto [b, kept] = scope.keep(a, list);
    EXPECT_EQ(kept.size(), 2U);
    EXPECT_EQ(scope.size(), 3);
  }
  EXPECT_TRUE(a.defined() && list[0].defined() && list[1].defined());
  EXPECT_EQ(outer.size(), 3);
}

TEST_F(ScopeTest, KeepOfAnUndefinedOneKeepsNone) {
  Tensor copy;
  {
    Scope scope;
    copy = zeros({1});
    EXPECT_THROW(scope.keep(copy, Tensor()), UseAfterRelease);
  }
  EXPECT_FALSE(copy.defined());
}

TEST_F(ScopeTest, WhatIsKeptBelongsToTheOuterScope) {
  Tensor t;
  {
    const Scope outer("outer");
    {
      Scope inner("inner");
      t = inner.keep(zeros({1}));
      EXPECT_EQ(inner.size(), 1);
      EXPECT_EQ(outer.size(), 0);
    }
    EXPECT_EQ(outer.size(), 1);
    EXPECT_TRUE(t.defined());
  }
  EXPECT_THAT(message_of(t), HasSubstr("(outer)"));
}

TEST_F(ScopeTest, AnOuterScopeKeepsWhatAnInnerOneMade) {
  Tensor t;
  {
    Scope outer;
    {
      const Scope inner;
      t = outer.keep(zeros({1}));
    }
    EXPECT_TRUE(t.defined());
  }
  EXPECT_TRUE(t.defined());
}

TEST_F(ScopeTest, MovesToTheOuterScopeAtOnceAndIdempotently) {
  Scope outer;
  {
    Scope inner;
    const Tensor t = zeros({1});
    inner.move_to_outer(t);
    inner.move_to_outer(t);
    EXPECT_EQ(inner.size(), 0);
    EXPECT_EQ(outer.size(), 1);
  }
  EXPECT_EQ(outer.size(), 0);  // its handle has gone
}

TEST_F(ScopeTest, MovesOutOfTheOutermostScopeToNone) {
  Tensor t;
  {
    Scope scope;
    t = zeros({1});
    scope.move_to_outer(t);
  }
  EXPECT_TRUE(t.defined());
}

TEST_F(ScopeTest, MovesToAnyOtherScope) {
  Scope first;
  Tensor t;
  {
    Scope second;
    {
      Scope third;
      t = zeros({1});
      third.move_to(t, first);
      third.move_to(t, first);
    }
    EXPECT_EQ(second.size(), 0);
  }
  EXPECT_EQ(first.size(), 1);
  EXPECT_TRUE(t.defined());
}

TEST_F(ScopeTest, DetachesAndAttaches) {
  const Tensor before = zeros({1});
  Tensor detached;
  {
    Scope scope;
    detached = zeros({1});
    scope.detach(detached);
    scope.detach(detached);
    scope.attach(before);
    scope.attach(before);
    EXPECT_EQ(scope.size(), 1);
  }
  EXPECT_TRUE(detached.defined());
  EXPECT_FALSE(before.defined());
}

TEST_F(ScopeTest, AttachingToItsOwnScopeLeavesAKeptOneKept) {
  Tensor t;
  {
    Scope scope;
    t = scope.keep(zeros({1}));
    scope.attach(t);
  }
  EXPECT_TRUE(t.defined());
}

TEST_F(ScopeTest, ReleasesBeforeTheEndInAnyOrder) {
  Scope scope;
  const Tensor a = zeros({1});
  const Tensor b = zeros({1});
  const Tensor c = scope.keep(zeros({1}));
  scope.release(a, c);
  scope.release(a, Tensor());
  EXPECT_FALSE(a.defined());
  EXPECT_TRUE(b.defined());
  EXPECT_FALSE(c.defined());
  EXPECT_EQ(scope.size(), 1);
}

TEST_F(ScopeTest, ReleasesNoOthersThanItsMembers) {
  const Tensor before = zeros({1});
  Scope outer;
  const Tensor of_outer = zeros({1});
  {
    Scope inner;
    inner.release(before, of_outer);
    EXPECT_TRUE(before.defined() && of_outer.defined());
    const Tensor of_inner = zeros({1});
    outer.release(of_inner);
    EXPECT_FALSE(of_inner.defined());
  }
}

TEST_F(ScopeTest, ReleasesAllThatWasNotKept) {
  Scope scope;
  const Tensor a = zeros({1});
  const Tensor kept = scope.keep(zeros({1}));
  scope.release_all();
  scope.release_all();
  EXPECT_FALSE(a.defined());
  EXPECT_TRUE(kept.defined());
  EXPECT_TRUE(zeros({1}).defined());
}

TEST_F(ScopeTest, ReleasesAllButSome) {
  Scope scope;
  const Tensor a = zeros({1});
  const std::array<Tensor, 2> spared{zeros({1}), zeros({1})};
  const Tensor kept = scope.keep(zeros({1}));
  scope.release_all_but(spared);
  EXPECT_FALSE(a.defined());
  EXPECT_TRUE(spared[0].defined() && spared[1].defined() && kept.defined());
  EXPECT_EQ(scope.size(), 3);
  scope.release_all();
  EXPECT_FALSE(spared[0].defined());
}

TEST_F(ScopeTest, ClosesBeforeAScopeInsideIt) {
  Tensor of_outer;
  Tensor of_inner;
  Tensor kept;
  Scope outermost;
  {
    Scope outer;
    of_outer = zeros({1});
    Scope inner;
    of_inner = zeros({1});
    kept = inner.keep(zeros({1}));
    outer.close();
    outer.close();
    EXPECT_FALSE(outer.is_open());
    EXPECT_FALSE(of_outer.defined());
    EXPECT_TRUE(of_inner.defined());
    EXPECT_EQ(Scope::current(), &inner);
  }
  EXPECT_FALSE(of_inner.defined());
  EXPECT_TRUE(kept.defined());
  EXPECT_EQ(outermost.size(), 1);
  EXPECT_EQ(Scope::current(), &outermost);
}

TEST_F(ScopeTest, AClosedScopePassesOnWhatIsMade) {
  Scope outer;
  Scope inner;
  inner.close();
  const Tensor t = zeros({1});
  EXPECT_EQ(outer.size(), 1);
  inner.attach(t);
  EXPECT_EQ(outer.size(), 1);
}

TEST_F(ScopeTest, EndsWhenAnExceptionPasses) {
  Tensor t;
  try {
    const Scope scope;
    t = zeros({1});
    throw 1;
  } catch (int) {
    EXPECT_FALSE(t.defined());
  }
  EXPECT_EQ(Scope::current(), nullptr);
}

TEST_F(ScopeTest, CountsNoHandleThatHasGone) {
  const Scope scope;
  for (int i = 0; i < 5; ++i) {
    zeros({1});
  }
  EXPECT_EQ(scope.size(), 0);
}

TEST_F(ScopeTest, ViewsKeepTheElementsOfARevokedHandle) {
  Tensor t;
  Tensor view;
  {
    Scope scope;
    t = ones({1000});
    view = scope.keep(t.detach());
  }
  EXPECT_FALSE(t.defined());
  EXPECT_EQ(view.at({999}), 1.0);
  EXPECT_GE(live(), 4000);
  view = Tensor();
  EXPECT_LT(live(), 1000);  // though the revoked handle is still there
}

TEST_F(ScopeTest, ARevokedViewHoldsNothingEither) {
  Tensor view;
  Tensor t = ones({1000});
  {
    const Scope scope;
    view = t.detach();
  }
  t = Tensor();
  EXPECT_LT(live(), 1000);
}

TEST_F(ScopeTest, ReboundHandlesGiveTheirOldElementsBackWithTheLastView) {
  Tensor t = ones({1000});
  Tensor view = t.detach();
  const Tensor other = zeros({1});
  t.rebind(other);
  EXPECT_GE(live(), 4000);
  view = Tensor();
  EXPECT_LT(live(), 2000);
  EXPECT_TRUE(t.is_alias_of(other));
}

TEST_F(ScopeTest, NothingIsAMemberOutsideScopes) {
  const Scope scope;
  const memory::OutsideScopes outside;
  const Tensor t = zeros({1});
  EXPECT_EQ(scope.size(), 0);
}

TEST_F(ScopeTest, OtherThreadsAreInNoScope) {
  Scope scope;
  Tensor t;
  std::thread([&t] { t = zeros({1}); }).join();
  EXPECT_EQ(scope.size(), 0);
  scope.close();
  EXPECT_TRUE(t.defined());
}

TEST_F(ScopeTest, MembersMayGoInOtherThreadsWhileTheScopeEnds) {
  constexpr int kRounds = 300;
  constexpr int kThreads = 3;
  constexpr int kTensors = 40;
  for (int round = 0; round < kRounds; ++round) {
    std::array<std::vector<Tensor>, kThreads> shares;
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    {
      const Scope scope;
      for (int i = 0; i < kTensors; ++i) {
        const Tensor t = zeros({1});
        for (auto& share : shares) {
          share.push_back(t);
        }
      }
      for (auto& share : shares) {
        threads.emplace_back([&ready, mine = std::move(share)]() mutable {
          ++ready;
          mine.clear();
        });
      }
      while (ready == 0) {
      }
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    ASSERT_EQ(live(), 0);
  }
}

TEST_F(ScopeTest, ScopesOfSeveralThreadsKeepOutOfEachOthersWay) {
  const auto work = [] {
    for (int i = 0; i < 300; ++i) {
      Scope outer;
      Tensor kept;
      {
        Scope inner;
        const Tensor a = zeros({1});
        kept = inner.keep(zeros({1}));
      }
      ASSERT_TRUE(kept.defined());
      ASSERT_EQ(outer.size(), 1);
    }
  };
  std::thread other([&] {
    const UseDomain use(*domain_);
    work();
  });
  work();
  other.join();
}

}  // namespace
}  // namespace neap
