// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Forward mode: a function is run once, its tangent beside it, from each op's
// jvp rule. No tape is needed or made; calls nest to any order, and reverse
// mode works over it.
#pragma once

#include <functional>
#include <span>

#include "neap/tensor/tensor.hpp"

namespace neap {

struct JvpResult {
  Tensor value;
  Tensor tangent;  // zeros where the value does not depend on the primals
};

/// f(primals) and its derivative in the direction `tangents` (same specs, one
/// a primal). `f` is given handles to the primals, to be used instead of the
/// originals. THROWS: ShapeError when specs differ; GraphError for an op
/// without a forward rule; whatever f throws.
NEAP_API JvpResult jvp(const std::function<Tensor(std::span<const Tensor>)>& f,
                       std::span<const Tensor> primals,
                       std::span<const Tensor> tangents);

}  // namespace neap
