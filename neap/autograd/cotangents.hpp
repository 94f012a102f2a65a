// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The arithmetic of cotangents and tangents: all that the walks ask of ops.
// What else they know of an op is its descriptor (graph/op.hpp), so that none
// is special to them. For sources of this room.
#pragma once

#include "neap/tensor/tensor.hpp"

namespace neap::autograd {

/// a + b, in the memory of `a` where nothing else needs it.
Tensor plus(Tensor a, const Tensor& b);

/// The same elements in memory that no other tensor has.
Tensor duplicate(const Tensor& t);

/// A tensor of ones: the cotangent that a backward begins with.
Tensor ones_of(const tensor::Spec& spec, const CallSite& site);

/// A tensor of zeros: the derivative of what does not depend on an input.
Tensor zeros_of(const tensor::Spec& spec, const CallSite& site);

}  // namespace neap::autograd
