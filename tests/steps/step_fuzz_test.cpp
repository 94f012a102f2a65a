// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A share of ./dev fuzz steps: the same programs in every run.
#include <gtest/gtest.h>

#include "hunt.hpp"

namespace neap::steps {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::int64_t kPrograms = 300;
constexpr std::int64_t kProgramsOfATheme = 15;
constexpr std::size_t kThrownClasses = 2;
#else
constexpr std::int64_t kPrograms = 6000;
constexpr std::int64_t kProgramsOfATheme = 300;
constexpr std::size_t kThrownClasses = 3;
#endif

TEST(StepFuzzTest, RandomStepsAreTheSameBitsAsEagerOrAreRefused) {
  const Findings findings = hunt({.programs = kPrograms});
  EXPECT_EQ(findings.faults, 0) << to_text(findings);
  // A compiler that refuses everything would find no fault.
  EXPECT_LE(findings.refused * 100, findings.calls * 45) << to_text(findings);
  // Classes of errors are compared where both throw, in several ones.
  EXPECT_GE(findings.thrown.size(), kThrownClasses) << to_text(findings);
}

TEST(StepFuzzTest, EachThemeAloneIsTheSameBitsAsEagerOrIsRefused) {
  for (std::size_t theme = 1; theme < kThemes; ++theme) {
    Themes themes{};
    themes[0] = true;
    themes[theme] = true;
    const Findings findings = hunt(
        {.first = 1'000'000, .programs = kProgramsOfATheme, .themes = themes});
    EXPECT_EQ(findings.faults, 0) << kThemeNames[theme] << '\n'
                                  << to_text(findings);
  }
}

TEST(StepFuzzTest, AProgramIsReadBackAsPrinted) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string text = to_text(generate(seed));
    EXPECT_EQ(to_text(from_text(text)), text);
  }
}

TEST(StepFuzzTest, AFaultShrinksToWhatItNeeds) {
  const StepProgram program = from_text(R"(
options keep_all
step
  tanh r0 a0
  add r1 r0 a1
  copy_ s0 r1 0
  halve r2 s0
  return r2 0
call dense:3:1 gapped:3:2 0.5
call dense:3:3 dense:3:4 0.5
)");
  const StepProgram shrunk = shrink(program, [](const StepProgram& smaller) {
    return smaller.step.size() > 1 && smaller.step[1].rule->name == "copy_";
  });
  EXPECT_EQ(shrunk.step.size(), 2U);
  EXPECT_EQ(shrunk.calls.size(), 1U);
  EXPECT_TRUE(shrunk.options.empty());
}

TEST(StepFuzzTest, ATextThatIsNoProgramIsRefusedAtItsLine) {
  EXPECT_THROW(from_text("step\n  dance r0\n"), ValueError);
  EXPECT_THROW(from_text("step\n  tanh r0 q1\n"), ValueError);
  EXPECT_THROW(from_text("call dense:3 dense:3:1 0.5\n"), ValueError);
}

}  // namespace
}  // namespace neap::steps
