// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What tracing once took over in silence, each as the small program that shows
// it: the compiled step gives the plain step's bits, or it refuses the call.
#include <gtest/gtest.h>

#include "twins.hpp"

namespace neap::steps {
namespace {

// Whether the call may be refused.
enum class Refusal : bool { kNever, kAllowed };

struct Known {
  const char* name;
  Refusal refusal;
  const char* program;
};

void PrintTo(const Known& known, std::ostream* out) {
  *out << known.name;
}

class KnownFaultsTest : public ::testing::TestWithParam<Known> {};

TEST_P(KnownFaultsTest, TheBitsAreThePlainStepsOrTheCallIsRefused) {
  const StepProgram program = from_text(GetParam().program);
  ASSERT_FALSE(first_throw(program)) << "the plain step throws";
  const Verdict verdict = judge(program);
  EXPECT_TRUE(verdict.is_good()) << to_text(verdict) << '\n'
                                 << to_text(program);
  if (GetParam().refusal == Refusal::kNever) {
    for (const auto& [kind, count] : verdict.refusals) {
      ADD_FAILURE() << kind << ", " << count << " times\n" << to_text(program);
    }
  }
}

constexpr auto kNever = Refusal::kNever;
constexpr auto kAllowed = Refusal::kAllowed;

// --- results and gradients that are arguments

constexpr Known kArguments[] = {
    {"AResultThatIsAnArgumentWithAnOffset", kNever, R"(
step
  return a0 0
call offset:3:1 dense:3:2 0.5
)"},
    {"AKeptResultThatIsAnArgumentWithAnOffset", kNever, R"(
options keep_all
step
  return a0 0
  return a1 0
call offset:3:1 offset:3:2 0.5
call offset:3:3 dense:3:4 0.5
)"},
    {"AResultThatIsADenseViewOfAnArgument", kNever, R"(
step
  return a0 1
call dense:3:1 dense:3:2 0.5
call offset:3:3 dense:3:4 0.5
)"},
    {"AGradientThatIsAnArgumentWithAnOffset", kNever, R"(
step
  set_grad l2 a0 0
call offset:3:1 dense:3:2 0.5
)"},
    {"AGradientThatIsARowOfAnArgument", kNever, R"(
step
  set_grad l1 a0 2
call offset:3:1 dense:3:2 0.5
)"},
    {"TwoGradientsOnOneStorage", kNever, R"(
step
  backward a1
  set_grad l3 h0 1
call dense:3:1 dense:3:2 0.75
between
  set_grad l1 h0 1
call dense:3:3 dense:3:4 0.25
)"},
    {"AResultThatIsAGappedArgument", kNever, R"(
step
  return a0 0
  return a1 3
call gapped:3:1 transposed:3:2 0.5
call expanded:3:1 every:3:2 0.5
)"},
};

// --- handles that the step assigns, and what it keeps outside

constexpr Known kState[] = {
    {"AHandleThatTheStepCarries", kNever, R"(
step
  carry h0 a0
  return h0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
call dense:3:5 dense:3:6 0.5
)"},
    {"AHandleThatIsADetachedValue", kNever, R"(
step
  add r0 h0 a0
  matmul r1 r0
  rebind_detached h0 r1
  backward r1
  update
  zero_grad
  return r1 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
call dense:3:5 dense:3:6 0.5
)"},
    {"TwoHandlesThatAreSwapped", kAllowed, R"(
step
  swap h0 h1
  return h0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"AHandleThatIsAnArgument", kAllowed, R"(
step
  rebind h0 a0
  return h0 0
call dense:3:1 dense:3:2 0.5
call offset:3:3 dense:3:4 0.5
)"},
    {"AHandleThatIsANewConstant", kAllowed, R"(
step
  add r0 h0 a0
  rebind_new h0 3
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"AHandleThatKeepsItsGraph", kAllowed, R"(
step
  carry_recorded h0 a0
  return h0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"AHandleThatIsAssignedBetweenCallsToo", kAllowed, R"(
step
  carry h0 a0
  return h0 0
call dense:3:1 dense:3:2 0.5
between
  rebind_new h0 7
call dense:3:3 dense:3:4 0.5
call dense:3:5 dense:3:6 0.5
)"},
    {"AHandleThatIsAssignedBetweenCallsOfTwoPrograms", kAllowed, R"(
step
  add r0 a0 h2
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:5:3 dense:5:4 0.5
between
  rebind_new h2 7
call dense:3:5 dense:3:6 0.5
call dense:5:3 dense:5:4 0.5
)"},
    {"AHandleWhoseShapeTheStepAsks", kAllowed, R"(
step
  if_rows r0 a0 h0
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  swap h0 h2
call dense:3:3 dense:3:4 0.5
)"},
    {"ATensorThatIsKeptOutside", kAllowed, R"(
step
  tanh r0 a0
  keep r0
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"AGrowingVectorThatTheStepReads", kAllowed, R"(
step
  add r0 a0 a1
  keep r0
  halve r1 k1
  return r1 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
call dense:3:5 dense:3:6 0.5
)"},
    {"AnIntermediateWhoseGradientIsKept", kAllowed, R"(
step
  retain r0 a0
  backward r0
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"ANumberThatTheStepChanges", kAllowed, R"(
step
  times r0 a0 0
  count_up
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
};

// --- hooks, precision, flags, settings

constexpr Known kRead[] = {
    {"AHookThatIsAddedBetweenCalls", kNever, R"(
step
  backward a0
  return a0 0
call dense:3:1 dense:3:2 0.5
between
  clear_grads
  hook l0 0
call dense:3:3 dense:3:4 0.5
)"},
    {"AHookThatIsRemovedBetweenCalls", kNever, R"(
step
  backward a0
  return a0 0
between
  hook l0 1
call dense:3:1 dense:3:2 0.5
between
  clear_grads
  unhook 0
call dense:3:3 dense:3:4 0.5
)"},
    {"AHookAfterAccumulationThatIsAddedBetweenCalls", kNever, R"(
step
  backward a0
call dense:3:1 dense:3:2 0.5
between
  clear_grads
  hook_after l2 0
call dense:3:3 dense:3:4 0.5
)"},
    {"AHookThatTheStepAdds", kAllowed, R"(
step
  backward a0
  hook l0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"APrecisionThatBegins", kNever, R"(
step
  product r0 a0
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  precision 1
call dense:3:3 dense:3:4 0.5
)"},
    {"APrecisionThatEnds", kNever, R"(
step
  product r0 a0
  return r0 0
between
  precision 1
call dense:3:1 dense:3:2 0.5
between
  precision 0
call dense:3:3 dense:3:4 0.5
)"},
    {"AStepThatAsksWhetherALeafRequiresGrad", kAllowed, R"(
step
  if_requires_grad r0 a0 l0
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  requires_grad l0 0
call dense:3:3 dense:3:4 0.5
between
  requires_grad l0 1
call dense:3:5 dense:3:6 0.5
)"},
    {"AStepThatReadsTheRate", kAllowed, R"(
step
  times_lr r0 a0
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  set_lr 7
call dense:3:3 dense:3:4 0.5
)"},
    {"AStepThatReadsAScheduledRateAfterItsUpdate", kAllowed, R"(
step
  backward a0
  update
  times_lr r0 a0
  return r0 0
between
  set_schedule 1
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"AStepThatReadsTheCountOfSteps", kAllowed, R"(
step
  backward a0
  update
  zero_grad
  times_count r0 a0
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
call dense:3:5 dense:3:6 0.5
)"},
    {"AStepThatReadsAnOption", kAllowed, R"(
step
  times_option r0 a0
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  set_options 2
call dense:3:3 dense:3:4 0.5
)"},
};

// --- writes

constexpr Known kWritten[] = {
    {"AWriteIntoAGappedArgument", kAllowed, R"(
step
  fill_ a0 3 0
call gapped:3:1 dense:3:2 0.5
call every:3:3 dense:3:4 0.5
call transposed:3:3 dense:3:4 0.5
)"},
    {"AWriteIntoAViewOfAGappedArgument", kAllowed, R"(
step
  add_ a0 a1 2
  return a0 0
call gapped:3:1 dense:3:2 0.5
)"},
    {"AnArgumentThatIsWrittenState", kAllowed, R"(
step
  halve r1 a0
  fill_ s0 7 0
  add r0 r1 a0
  return r0 0
call state:3:1 dense:3:2 0.5
)"},
    {"AnArgumentThatIsAGappedViewOfWrittenState", kAllowed, R"(
step
  fill_ s1 7 0
  halve r0 a0
  return r0 0
call view:3:1 dense:3:2 0.5
)"},
    {"ACapturedViewOfWrittenState", kNever, R"(
step
  halve r1 v0
  fill_ s1 7 0
  add r0 r1 v0
  return r0 0
  return v1 0
call dense:3:1 dense:3:2 0.5
call dense:3:1 dense:3:2 0.5
)"},
    {"AReturnedConstantThatIsWritten", kNever, R"(
options keep_all
step
  constant r0 1
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  fill_ o0 9 0
call dense:3:3 dense:3:4 0.5
call dense:3:5 dense:3:6 0.5
)"},
    {"AReturnedConstantThatIsWrittenInTheArena", kNever, R"(
step
  constant r0 1
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  fill_ o0 9 0
call dense:3:3 dense:3:4 0.5
call dense:3:5 dense:3:6 0.5
)"},
    {"AGradientThatIsAConstantAndIsWritten", kNever, R"(
step
  constant r0 1
  set_grad l1 r0 0
call dense:3:1 dense:3:2 0.5
between
  fill_ g1 9 0
call dense:3:3 dense:3:4 0.5
between
  fill_ g1 8 0
call dense:3:5 dense:3:6 0.5
)"},
};

// --- modes that a step sets and puts back

constexpr Known kModes[] = {
    {"ALayerInEvalForAPartOfTheStep", kAllowed, R"(
step
  in_eval 1
  net r0 a0
  net r1 a0
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"ALayerInEvalForTheWholeStep", kAllowed, R"(
step
  in_eval 1
  net r0 a0
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"ALayerThatIsFrozenForAPartOfTheStep", kAllowed, R"(
step
  frozen 2
  net r0 a0
  backward r0
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"ALeafThatIsFrozenForAPartOfTheStep", kAllowed, R"(
step
  leaf_frozen 2 l0
  matmul r0 a0
  backward r0
  return r0 0
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"AModeThatTheStepLeavesSet", kAllowed, R"(
step
  freeze
call dense:3:1 dense:3:2 0.5
between
  unfreeze
call dense:3:3 dense:3:4 0.5
)"},
};

std::string name_of(const ::testing::TestParamInfo<Known>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Arguments, KnownFaultsTest,
                         ::testing::ValuesIn(kArguments), name_of);
INSTANTIATE_TEST_SUITE_P(State, KnownFaultsTest, ::testing::ValuesIn(kState),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Read, KnownFaultsTest, ::testing::ValuesIn(kRead),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Written, KnownFaultsTest,
                         ::testing::ValuesIn(kWritten), name_of);
INSTANTIATE_TEST_SUITE_P(Modes, KnownFaultsTest, ::testing::ValuesIn(kModes),
                         name_of);

}  // namespace
}  // namespace neap::steps
