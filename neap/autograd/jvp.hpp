// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Forward mode: a function is run once, its tangent beside it, from each op's
// jvp rule. No tape is needed or recorded; a tangent is freed with its value.
// Calls nest to any order, and in any order with reverse mode.
#pragma once

#include <initializer_list>
#include <span>

#include "neap/base/function_ref.hpp"
#include "neap/memory/containers.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap {

using Tensors = memory::Vector<Tensor>;

namespace autograd {

/// The forms that a function to be differentiated may have. It is given handles
/// to the primals, which it must use instead of the originals, and may use
/// other tensors besides (constants here). It may be called several times.
using Function = base::FunctionRef<Tensor(const Tensor&)>;
using FunctionOfMany = base::FunctionRef<Tensor(std::span<const Tensor>)>;
using FunctionToMany = base::FunctionRef<Tensors(std::span<const Tensor>)>;

}  // namespace autograd

struct JvpOptions {
  /// The tangent is recorded for reverse mode where the value is (because a
  /// parameter that requires grad was used): a loss computed from derivatives
  /// can then be differentiated. False: the tangent is a constant to reverse
  /// mode.
  bool create_graph = true;
};

struct JvpResult {
  Tensor value;
  Tensor tangent;  // zeros where the value does not depend on the primals
};

struct JvpResults {
  Tensors values;
  Tensors tangents;  // a tangent for each value
};

/// f(x) and its derivative at x in the direction `tangent` (x's shape, dtype
/// and space; default-made: zero), both of f(x)'s shape. The tangent has memory
/// of its own. THROWS: ShapeError, DTypeError, DeviceError for a tangent unlike
/// its primal; DTypeError for a primal that is not floating, as vjp;
/// UseAfterRelease for a tangent that a scope released; GraphError for an op
/// without a forward rule; whatever f throws; OutOfMemory.
NEAP_API JvpResult jvp(autograd::Function f, const Tensor& primal,
                       const Tensor& tangent, const JvpOptions& options = {});

/// The same of several primals, which all move at once, one tangent each.
/// THROWS also: ShapeError when there are not as many tangents as primals.
NEAP_API JvpResult jvp(autograd::FunctionOfMany f,
                       std::span<const Tensor> primals,
                       std::span<const Tensor> tangents,
                       const JvpOptions& options = {});

/// The same of a function with several results.
NEAP_API JvpResults jvp(autograd::FunctionToMany f,
                        std::span<const Tensor> primals,
                        std::span<const Tensor> tangents,
                        const JvpOptions& options = {});

/// The derivative of order k along k directions, D^k f(x)[v1, ..., vk], of
/// f(x)'s shape: d^2 f / dx_i dx_j for unit directions i and j, a pure second
/// derivative for v twice. Symmetric in the directions; no direction: f(x).
/// Costs about 2^k evaluations. THROWS: as jvp.
NEAP_API Tensor directional_derivative(autograd::Function f,
                                       const Tensor& primal,
                                       std::initializer_list<Tensor> directions,
                                       const JvpOptions& options = {});
/// The same of several primals: a direction has a tangent for each; mixed
/// derivatives (by time and place, say) are one direction after the other.
NEAP_API Tensor directional_derivative(
    autograd::FunctionOfMany f, std::span<const Tensor> primals,
    std::span<const std::span<const Tensor>> directions,
    const JvpOptions& options = {});

}  // namespace neap
