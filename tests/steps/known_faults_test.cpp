// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Faults that tracing once passed over in silence, each as the small program
// that shows it: the compiled step gives the plain step's bits, or it refuses
// the call.
#include "known_faults.hpp"

namespace neap::steps {
namespace {

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

INSTANTIATE_TEST_SUITE_P(Arguments, KnownFaultsTest,
                         ::testing::ValuesIn(kArguments), name_of);
INSTANTIATE_TEST_SUITE_P(State, KnownFaultsTest, ::testing::ValuesIn(kState),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Read, KnownFaultsTest, ::testing::ValuesIn(kRead),
                         name_of);

}  // namespace
}  // namespace neap::steps
