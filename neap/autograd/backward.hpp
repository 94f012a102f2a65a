// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Reverse mode. backward() accumulates into the gradients of leaves; grad()
// returns cotangents and accumulates nothing. Both consume the part of the
// graph they walk (residuals are freed as they are used) unless told to retain
// it.
#pragma once

#include <initializer_list>
#include <span>

#include "neap/autograd/gradients.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap {

struct BackwardOptions {
  /// The cotangent of the result; needed unless it has one element (then 1).
  Tensor cotangent{};
  bool retain_graph = false;
  /// Records the derivative itself, for a derivative of higher order. Implies
  /// retain_graph.
  bool create_graph = false;
  /// Tensors whose gradients are added to: leaves that require one, or results
  /// of ops that retain theirs (retain_grad); all others are left alone, and
  /// rules that lead to none of these do not run. Empty: every leaf that
  /// requires one. LIFETIME: until backward returns.
  std::span<const Tensor> inputs{};
};

/// Adds d(result)/d(leaf) . cotangent to the gradient of every leaf that
/// requires one. Strong: a throw leaves all gradients unchanged; the graph
/// entered is consumed, or, with retain_graph, unchanged.
/// THROWS: GraphError when the result requires no grad, when none of its leaves
/// does any more, when a part of the graph is already consumed, or when a value
/// it needs was overwritten; UseAfterRelease for a cotangent that a scope
/// released (only a default-made one stands for none); ShapeError for a wrong
/// or missing cotangent; OutOfMemory. With inputs, also GraphError for one that
/// the result does not depend on, that keeps no gradient, or that a
/// rematerialised segment recomputes.
NEAP_API void backward(const Tensor& result,
                       const BackwardOptions& options = {},
                       CallSite site = CallSite::here());

/// The same for options.inputs = `inputs`: backward(loss, {w, b}).
/// THROWS: as above; ValueError for no inputs.
NEAP_API void backward(const Tensor& result,
                       std::initializer_list<Tensor> inputs,
                       const BackwardOptions& options = {},
                       CallSite site = CallSite::here());

/// The same from several results at once, whose contributions add up.
/// `cotangents`: one a result, undefined where the result has one element; or
/// none at all. options.cotangent is not read. THROWS: as above; ShapeError for
/// another number of cotangents.
NEAP_API void backward(std::span<const Tensor> results,
                       std::span<const Tensor> cotangents = {},
                       const BackwardOptions& options = {},
                       CallSite site = CallSite::here());

struct GradOptions {
  enum class Unused { kError, kZeros };
  /// The cotangents of the outputs; empty: ones for outputs of one element.
  std::span<const Tensor> cotangents{};
  bool retain_graph = false;
  bool create_graph = false;       // implies retain_graph
  Unused unused = Unused::kError;  // inputs that no output depends on
};

/// The cotangents of `inputs` (leaves or results of ops), in their order. Each
/// has memory of its own, dense: writing to one changes no other gradient, nor
/// a cotangent that was given. (With create_graph they are results on the
/// graph, and may not be written at all.)
/// THROWS: as backward; GraphError for an unused input unless kZeros, and for
/// a value inside a rematerialised segment, which recomputes it.
NEAP_API Gradients grad(std::span<const Tensor> outputs,
                        std::span<const Tensor> inputs,
                        const GradOptions& options = {},
                        CallSite site = CallSite::here());
NEAP_API Gradients grad(const Tensor& output,
                        std::initializer_list<Tensor> inputs,
                        const GradOptions& options = {},
                        CallSite site = CallSite::here());

}  // namespace neap
