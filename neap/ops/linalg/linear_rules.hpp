// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by linear and gelu_linear: the shapes of x (..., in), w (out, in) and
// bias (out), x taken as rows, and weights that stay in bf16. For sources of
// ops only.
#pragma once

#include <initializer_list>

#include "neap/ops/support.hpp"

namespace neap::ops {

/// The dtypes of a product of operands with these names: that of the first, f32
/// or f64, for all, but operand `weight` may be bf16 beside f32. out[0] has the
/// spec of the first. THROWS: DTypeError.
void infer_weighted(const OpArgs& args, std::span<Spec> out, std::size_t weight,
                    std::initializer_list<const char*> names);

/// A weight in bf16 is a constant of a product in f32. `name` is the operand's.
/// THROWS: DTypeError where a gradient by it would be recorded, or in a block
/// of products in bf16. REQUIRES: a call that is about to be recorded.
void check_half_weight(std::string_view op, const char* name,
                       const Tensor& weight);

/// The shape rule over rows: (n, in) to (n, out). THROWS: ShapeError,
/// DTypeError.
void infer_linear(const OpArgs& args, std::span<Spec> out);

/// a b, added to what other calls have given the input so far: a recurrent
/// network uses its weights once a step.
Tensor gain(Tensor sum, const Tensor& a, const Tensor& b);

/// x with its leading axes as one.
Tensor as_rows(const Operand& x);

/// y of the shape that goes with x, of rows that were made of it.
Tensor as_before(const Tensor& y, const Tensor& x);

/// apply(x) where x is rows, else the same with x's leading axes as one.
/// THROWS: ShapeError for rank 0.
template <class Apply>
Tensor over_rows(std::string_view op, const Operand& x, const Apply& apply) {
  const Tensor& value = tensor_of(op, x);
  if (value.rank() == 2) {
    return apply(x);
  }
  if (value.rank() == 0) {
    raise<ShapeError>("{}: x has rank 0, expected (..., in)", op);
  }
  const AtSite here(x);
  return as_before(apply(as_rows(x)), value);
}

}  // namespace neap::ops
