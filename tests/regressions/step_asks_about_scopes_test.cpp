// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that asked which scope a tensor is of, whether it is kept there, how
// many members a scope has or whether one is open went on with the answer of
// its trace.
#include <gmock/gmock.h>

#include <optional>

#include "neap/memory/composite.hpp"
#include "neap/memory/scope.hpp"
#include "step_questions.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepAsksAboutScopesTest : public ::testing::Test {
 protected:
  template <class Ask>
  void expect_refused(const Ask& ask, const char* words) const {
    expect_question_refused(ask, words, "step_asks_about_scopes_", x_);
  }

  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepAsksAboutScopesTest, TheSizeOfAScopeOfBeforeIsRefused) {
  const Scope scope;
  const auto ask = [&](const Tensor&, const Tensor&) {
    return scope.size() > 3;
  };
  expect_refused(ask, "size:");
  expect_refused(
      [](const Tensor&, const Tensor&) { return Scope::current()->size() > 3; },
      "size:");
}

TEST_F(StepAsksAboutScopesTest, WhetherAScopeOfBeforeIsOpenIsRefused) {
  std::optional<Scope> scope(std::in_place);
  expect_refused([&](const Tensor&, const Tensor&) { return scope->is_open(); },
                 "is_open:");
}

TEST_F(StepAsksAboutScopesTest, WhetherATensorOfBeforeIsKeptIsRefused) {
  Scope scope;
  const Tensor k = x_ * 2.0;
  const auto ask = [&](const Tensor&, const Tensor&) {
    return scope.keeps(k.scope_member());
  };
  expect_refused(ask, "keeps:");
  scope.keep(k);
  expect_refused(ask, "keeps:");
}

TEST_F(StepAsksAboutScopesTest, WhetherAnArgumentIsKeptIsRefused) {
  Scope scope;
  expect_refused([&](const Tensor& x,
                     const Tensor&) { return scope.keeps(x.scope_member()); },
                 "keeps:");
}

TEST_F(StepAsksAboutScopesTest, TheScopeOfATensorOfBeforeIsRefused) {
  const Scope scope;
  const Tensor k = x_ * 2.0;
  expect_refused(
      [&](const Tensor&, const Tensor&) {
        return Scope::of(k.scope_member()) == &scope;
      },
      "of:");
}

// The argument is of no scope, or of another than the call's.
TEST_F(StepAsksAboutScopesTest, TheScopeOfAnArgumentFromElsewhereIsRefused) {
  const Scope scope;
  expect_refused(
      [&](const Tensor& x, const Tensor&) {
        return Scope::of(x.scope_member()) == nullptr;
      },
      "of:");
}

TEST_F(StepAsksAboutScopesTest, TheScopeOfAnArgumentOfTheCallsIsAGuard) {
  const auto function = [](const Tensor& x) {
    return Scope::of(x.scope_member()) == nullptr ? x * 2.0 : x * 3.0;
  };
  auto step = neap::compile(function, {.keep_all = true});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(floats(step(x_)), Each(2.0F));
    const Scope scope;
    EXPECT_THAT(floats(step(x_ * 1.0)), Each(3.0F));
  }
  EXPECT_EQ(step.traces(), 2);
}

// The scope around the call is another one, though there is one.
TEST_F(StepAsksAboutScopesTest, WhichScopeIsAroundTheCallIsAGuard) {
  const Scope first;
  const auto by_current = [&](const Tensor& x) {
    return Scope::current() == &first ? x * 2.0 : x * 3.0;
  };
  const auto by_result = [&](const Tensor& x) {
    const Tensor y = x * 1.0;
    return Scope::of(y.scope_member()) == &first ? y * 2.0 : y * 3.0;
  };
  auto current = neap::compile(by_current, {.keep_all = true});
  auto result = neap::compile(by_result, {.keep_all = true});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(floats(current(x_)), Each(2.0F));
    EXPECT_THAT(floats(result(x_)), Each(2.0F));
    const Scope second;
    EXPECT_THAT(floats(current(x_)), Each(3.0F));
    EXPECT_THAT(floats(result(x_)), Each(3.0F));
  }
  EXPECT_EQ(current.traces(), 2);
  EXPECT_EQ(result.traces(), 2);
}

TEST_F(StepAsksAboutScopesTest, AnotherScopeInTheSamePlaceIsNoticed) {
  const auto function = [](const Tensor& x) {
    return base::site_of(Scope::current()->site()).function ==
                   std::string_view("first")
               ? x * 2.0
               : x * 3.0;
  };
  auto step = neap::compile(function, {.keep_all = true});
  std::optional<Scope> scope;
  scope.emplace("first");
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
  scope.emplace("second");
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
}

TEST_F(StepAsksAboutScopesTest, AScopeThatTheStepOpensAnswersAsEver) {
  const auto function = [](const Tensor& x) {
    Scope scope;
    const Tensor y = x * 2.0;
    const Tensor z = y + 1.0;
    scope.keep(z);
    const auto size = static_cast<double>(scope.size());
    const bool is_right = scope.is_open() && scope.keeps(z.scope_member()) &&
                          !scope.keeps(y.scope_member()) &&
                          Scope::of(y.scope_member()) == &scope &&
                          Scope::of(x.scope_member()) != &scope;
    return scope.keep(is_right ? z * size : z * 0.0);
  };
  EXPECT_THAT(floats(function(x_)), Each(6.0F));
  auto step = neap::compile(function, {.keep_all = true});
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(floats(step(x_)), Each(6.0F));
  }
  EXPECT_EQ(step.traces(), 1);
}

TEST_F(StepAsksAboutScopesTest, AResultThatTheStepKeepsIsKept) {
  const auto function = [](const Tensor& x) {
    const Tensor y = x * 1.0;
    Scope& scope = *Scope::current();
    const bool was_kept = scope.keeps(y.scope_member());
    scope.keep(y);
    const bool is_kept = scope.keeps(y.scope_member());
    return is_kept && !was_kept ? y * 2.0 : y * 3.0;
  };
  auto step = neap::compile(function);
  for (int i = 0; i < 3; ++i) {
    const Scope scope;
    EXPECT_THAT(floats(step(x_)), Each(2.0F));
  }
}

struct Frame : Composite {
  explicit Frame(const Tensor& part) : image(part) { absorb(part); }
  Tensor image;
};

TEST_F(StepAsksAboutScopesTest, WhetherACompositeOfBeforeIsThereIsRefused) {
  const Frame frame(x_ * 2.0);
  auto step = neap::compile(
      [&](const Tensor& x) { return frame.defined() ? x * 2.0 : x * 3.0; });
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<TraceError>(HasSubstr("composite")));
  auto own = neap::compile([](const Tensor& x) {
    const Frame made(x * 2.0);
    return made.defined() ? made.image * 2.0 : x;
  });
  EXPECT_THAT(floats(own(x_)), Each(4.0F));
}

}  // namespace
}  // namespace neap::compiler
