// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The model's answers to op calls, backward walks and releases: the results, or
// the words of the refusal.
#pragma once

#include <string>
#include <vector>

#include "model.hpp"

namespace neap::lifetimes {

/// The place of actions, as error messages print it: every action of a program
/// has a line of its own in a file that is not there.
inline constexpr const char* kFile = "program";
inline constexpr const char* kFunction = "action";
std::string site_text(int action);

struct Built {
  std::array<int, 2> bodies = {kNone, kNone};
  int vertex = kNone;       // of the recorded call
  bool is_donated = false;  // bodies[0] is the moved operand's own
};

/// A call with operands of the given bodies. `moved`: which operand was given
/// as an rvalue, or kNone. Values are what the formulas say.
Built build(Model& model, const Call& call, const std::array<int, 2>& operands,
            int moved, bool is_grad_enabled, int action);

struct WalkRequest {
  std::vector<Edge> roots{};
  std::vector<Cotangent> cotangents{};  // one a root
  bool is_to_leaves = true;             // backward; else:
  std::vector<Edge> targets{};          // grad
  bool must_use_all = false;            // refuses targets that nothing reaches
  bool retains = false;
  int action = kNone;
};

struct WalkResult {
  /// Texts one of which the error must contain; empty: not refused.
  std::vector<std::string> refusals;
  std::vector<Cotangent> targets;  // undefined: nothing flowed there
};

/// Differentiates: consumes what it walks, and (to leaves) adds to gradients.
WalkResult walk(Model& model, const WalkRequest& request);

/// Releases all that only this body's place on the graph needs. RETURNS: the
/// vertex that stands for the released place where others need the old one,
/// whose bytes are yet to be told; else kNone.
int release(Model& model, int body, int action);

}  // namespace neap::lifetimes
