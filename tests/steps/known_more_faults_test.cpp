// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// More of known_faults_test.cpp: writes, modes, handles that are assigned
// between calls, gradients on the elements of other tensors, refused calls.
#include "known_faults.hpp"

namespace neap::steps {
namespace {

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

// --- captured handles that are assigned between calls

constexpr Known kAssigned[] = {
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
    {"AnAssignedHandleThatTheStepDetaches", kAllowed, R"(
step
  detach r0 h0
  mul r1 r0 a0
  return r1 0
call dense:3:1 dense:3:2 0.5
between
  rebind_new h0 7
call dense:3:3 dense:3:4 0.5
)"},
    {"AnAssignedHandleThatTheStepSlices", kAllowed, R"(
step
  rows r0 h0 1
  mul r1 a0 r0
  return r1 0
call dense:3:1 dense:3:2 0.5
between
  rebind_new h0 7
call dense:3:3 dense:3:4 0.5
)"},
    {"AnAssignedHandleThatTheStepReturns", kAllowed, R"(
step
  alias r0 h0
  return_graph r0
call dense:3:1 dense:3:2 0.5
between
  rebind_new h0 7
call dense:3:3 dense:3:4 0.5
)"},
    {"TwoHandlesThatAreSwappedBetweenCalls", kAllowed, R"(
step
  add r0 a0 h0
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  swap h0 h1
call dense:3:3 dense:3:4 0.5
)"},
};

// --- gradients that lie on other tensors' elements

constexpr Known kGradients[] = {
    {"TwoGradientsOnOneStorage", kNever, R"(
step
  backward a1
between
  set_grad l3 h0 0
  set_grad l1 h0 1
call dense:3:3 dense:3:4 0.25
)"},
    {"AGradientThatIsAReturnedState", kNever, R"(
step
  backward a0
  return s0 0
call dense:3:1 dense:3:2 0.25
between
  set_grad l2 s0 0
call dense:3:3 dense:3:4 0.5
call dense:3:3 dense:3:4 0.5
)"},
    {"AGradientThatTheStepSetsAfterAnEagerBackward", kNever, R"(
step
  backward a0
  set_grad l3 h0 0
call dense:3:1 dense:3:2 0.25
call dense:3:3 dense:3:4 0.25
between
  backward v2
call dense:3:5 dense:3:6 0.75
)"},
    {"AGradientThatIsSetToACapturedTensor", kNever, R"(
step
  set_grad l2 h1 0
call dense:3:1 dense:3:2 0.25
)"},
};

// --- calls that are refused, and counts

constexpr Known kCalls[] = {
    {"ARefusedCallThatWasTracedAnew", kAllowed, R"(
step
  tanh r0 a0
  add_ a1 r0 0
call dense:3:1 dense:3:2 0.5
call dense:5:3 overlap:5:4 0.75
)"},
    {"AResultThatIsFedBackIntoATracedCall", kAllowed, R"(
step
  add r1 a0 a1
  backward r1
  return r1 0
call dense:3:1 dense:3:2 0.5
call result:3:3 dense:3:4 0.5
)"},
    {"AnUpdateWithoutAGradient", kNever, R"(
step
  backward a0
  update_and_release
  update
call dense:3:1 dense:3:2 0.75
call dense:3:3 dense:3:4 0.75
)"},
    {"AStepThatAsksHowItsArgumentLies", kAllowed, R"(
step
  if_contiguous r0 a0 a1
  return r0 0
call dense:3:1 gapped:3:2 0.5
)"},
    {"AStepThatAsksWhetherItsArgumentIsItsState", kAllowed, R"(
step
  if_same r0 a0 s0
  return r0 0
call state:3:1 dense:3:2 0.5
)"},
};

// --- handles that mean nothing any more

constexpr Known kUndefined[] = {
    {"AHandleThatIsRevokedBetweenCalls", kNever, R"(
step
  tanh r0 h1
  return r0 0
call dense:3:1 dense:3:2 0.5
between
  revoke h1
call dense:3:3 dense:3:4 0.5 throws
)"},
    {"AHandleThatIsUndefinedInTheTrace", kNever, R"(
step
  matmul r1 a0
  add_ s0 h0 0
  return r1 0
between
  undefine h0
call dense:3:3 dense:3:4 0.5 throws
)"},
};

// --- handles that share a tensor, and what a step takes away

constexpr Known kShared[] = {
    {"ASwapOfHandlesThatMeanOneTensor", kNever, R"(
step
  swap h3 h1
  rebind_detached h2 r1
call dense:3:1 dense:3:2 0.25
between
  rebind_other h3 h2
call dense:5:3 dense:5:4 0.25
call dense:3:5 dense:3:6 1
call dense:5:7 dense:5:8 1
)"},
    {"ASwapOfTheSameTensor", kNever, R"(
step
  requires_grad l4 0
  swap h1 h3
  rebind_detached h1 s0
call dense:3:1 dense:3:2 0.5
between
  rebind_new h1 5
  rebind_other h0 h1
call dense:3:3 dense:3:4 0.25
)"},
    {"AnAssignmentOfWhatItMeans", kNever, R"(
step
  rebind h3 s0
between
  plain_call
call dense:3:3 dense:3:4 0.25
between
  revoke h3
call dense:3:1 dense:3:1 0.5
)"},
    {"ASwapBackToTheFirstTensor", kNever, R"(
step
  rebind_detached h1 r1
  swap h0 h1
  detach r0 h1
  rebind_detached h1 r0
between
  rebind_other h0 h1
call dense:3:1 dense:3:2 0.5
call dense:3:3 dense:3:4 0.5
call dense:3:5 dense:3:6 0.5
)"},
    {"AnUndefinedHandleThatIsSwapped", kNever, R"(
step
  swap h1 h2
  rebind_detached h2 r3
between
  undefine h2
call dense:3:1 dense:3:1 0.5
)"},
    {"StatesThatShareAStorage", kNever, R"(
step
  backward h3
  swap h2 h1
  rebind_view h2 r2 1
  rebind h3 r0
call dense:3:1 dense:3:2 0.75
)"},
    {"ARetainedTensorThatIsTheResult", kNever, R"(
step
  retain r0 r2
  backward r0
call dense:3:1 dense:3:2 1
)"},
    {"AHookThatTheStepRemoves", kAllowed, R"(
step
  fill_ r0 0 0
  backward h2
  unhook 0
between
  hook l2 1
call dense:3:3 same:3:4 0.75
call dense:3:5 dense:3:6 0.75
)"},
    {"AContainerThatTheStepEmpties", kAllowed, R"(
step
  forget
call dense:3:3 dense:3:4 1
between
  keep r2
call dense:3:7 dense:3:8 0.75
)"},
};

INSTANTIATE_TEST_SUITE_P(Shared, KnownFaultsTest, ::testing::ValuesIn(kShared),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Assigned, KnownFaultsTest,
                         ::testing::ValuesIn(kAssigned), name_of);
INSTANTIATE_TEST_SUITE_P(Gradients, KnownFaultsTest,
                         ::testing::ValuesIn(kGradients), name_of);
INSTANTIATE_TEST_SUITE_P(Calls, KnownFaultsTest, ::testing::ValuesIn(kCalls),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Written, KnownFaultsTest,
                         ::testing::ValuesIn(kWritten), name_of);
INSTANTIATE_TEST_SUITE_P(Modes, KnownFaultsTest, ::testing::ValuesIn(kModes),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Undefined, KnownFaultsTest,
                         ::testing::ValuesIn(kUndefined), name_of);

}  // namespace
}  // namespace neap::steps
