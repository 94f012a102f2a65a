// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// More of known_faults_test.cpp: which handles mean one tensor after a call,
// which scope a tensor is in, and which module has a name.
#include "known_faults.hpp"

namespace neap::steps {
namespace {

// --- handles that are one tensor after a call

constexpr Known kOneTensor[] = {
    {"AHandleThatIsACapturedTensor", kNever, R"(
step
  rebind h3 s0
call dense:3:1 dense:3:2 0.5
between
  track h3 1
  backward s0
call dense:3:7 dense:3:8 0.5
)"},
    {"AHandleThatIsAnArgumentOfTheCaller", kAllowed, R"(
step
  rebind h1 a1
  backward r1
call view:3:1 same:3:2 1
between
  track h1 1
call dense:3:7 view:3:8 0.75
)"},
    {"AHandleThatIsACapturedView", kNever, R"(
step
  if_tracked r2 r2 h3
  rebind h0 v1
  if_requires_grad r1 r2 l2
  return r1 0
call dense:3:1 dense:3:2 0.25
between
  track h0 1
call dense:3:5 dense:3:6 1
)"},
};

INSTANTIATE_TEST_SUITE_P(OneTensor, KnownFaultsTest,
                         ::testing::ValuesIn(kOneTensor), name_of);

// --- scopes around calls and in steps

constexpr Known kScopes[] = {
    {"ATensorThatALaterCallMovesIntoItsScope", kAllowed, R"(
step
  enter_scope h0
call dense:3:1 dense:3:2 0.5
between
  scope_calls 1
call dense:3:5 dense:3:6 0.5
)"},
    {"AnArgumentOfNoScopeThatIsReleased", kNever, R"(
step
  release r2
  rebind_detached h1 a2
between
  open_scope
call dense:3:3 dense:3:4 1
)"},
    {"AStateThatIsAnArgumentInAScope", kNever, R"(
step
  rebind h1 r2
between
  scope_calls 1
call dense:3:7 dense:3:8 0.5
)"},
    {"AnArgumentThatMovesIntoAScope", kAllowed, R"(
step
  enter_scope r3
between
  scope_calls 2
call dense:5:7 dense:5:8 0.5
)"},
    {"AWrittenArgumentThatIsReturnedFromAScope", kNever, R"(
step
  copy_ r0 a3 3
  return_graph r2
  return_graph r0
call dense:3:1 dense:3:2 0.75
between
  scope_calls 2
call dense:3:7 dense:3:8 0.75
)"},
    {"AResultThatLeftScopesBeforeThereWasOne", kNever, R"(
step
  halve r1 r0
  leave_scopes r1
  return_graph r1
call dense:3:1 dense:3:2 0.75
between
  scope_calls 2
call dense:3:5 dense:3:6 0.75
)"},
    {"AVerifiedStateThatMeansWhatAViewDoes", kNever, R"(
options verify
step
  rebind h2 v3
call dense:3:3 dense:3:4 1
between
  plain_call
call dense:3:7 dense:3:8 1
)"},
    {"AVerifiedHandleThatIsUndefinedLater", kNever, R"(
options verify
step
  scope_kept 3
  swap h2 h3
  rebind_view h2 r1 1
call dense:3:1 dense:3:2 1
)"},
    {"AVerifiedHandleThatGetsTheGradientThatItIs", kNever, R"(
options verify
step
  rebind_gradient h2 g2
  backward v0
call dense:3:1 dense:3:2 0.5
between
  requires_grad l2 0
call dense:3:7 dense:3:8 0.5
)"},
    {"AVerifiedStateThatTheStepWrites", kAllowed, R"(
options verify
step
  add_ s0 r2 0
  carry h0 s0
call dense:3:1 dense:3:2 0.5
between
  rebind_other h0 s0
call dense:3:5 dense:3:6 1
)"},
    {"AVerifiedStateThatMeansWhatAnotherDoes", kAllowed, R"(
options verify
step
  rebind_view h2 r0 0
  carry h0 r2
call dense:5:5 dense:5:6 0.5
between
  rebind_other h2 h3
call dense:5:7 dense:5:8 0.25
)"},
};

INSTANTIATE_TEST_SUITE_P(Scopes, KnownFaultsTest, ::testing::ValuesIn(kScopes),
                         name_of);

// --- modules that the step moves

constexpr Known kModules[] = {
    {"LayersThatTheStepSwapsAfterATie", kAllowed, R"(
step
  swap_layers
  pair r1 r0
  return r1 5
call dense:3:1 dense:3:2 0.75
call dense:3:3 dense:3:4 0.25
between
  tie
call dense:3:5 dense:3:6 0.75
)"},
    {"LayersThatAStepSwapsWhileItIsPrepared", kAllowed, R"(
options prepared
step
  swap_layers
between
  new_layer 4
call dense:3:7 dense:3:8 0.75
)"},
};

INSTANTIATE_TEST_SUITE_P(Modules, KnownFaultsTest,
                         ::testing::ValuesIn(kModules), name_of);

}  // namespace
}  // namespace neap::steps
