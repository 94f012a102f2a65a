// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What many ops share: shape rules, scalars beside tensors, and the reduction
// of a cotangent to a broadcast operand's shape. For sources of ops only.
#pragma once

#include "neap/base/raise.hpp"
#include "neap/graph/rules.hpp"

namespace neap::ops {

using base::raise;
using graph::Attrs;
using graph::Cost;
using graph::JvpContext;
using graph::Op;
using graph::OpArgs;
using graph::SampleAxis;
using graph::Spec;
using graph::VjpContext;
using tensor::Layout;

/// Shape rules. `Name` is the op's name, for messages.
void infer_same(const char* op, const OpArgs& args, Spec& out);
void infer_floating(const char* op, const OpArgs& args, Spec& out);
void infer_broadcast(const char* op, const OpArgs& args, Spec& out);
/// THROWS: DTypeError unless all inputs have the dtype of the first.
void check_same_dtype(const char* op, const OpArgs& args);
/// THROWS: DTypeError unless f32 or f64.
void check_computes(const char* op, DType dtype);

/// The operand as a tensor: a number becomes rank 0 of `like`'s dtype and
/// space. The holder keeps it alive for the call.
class Operands {
 public:
  /// THROWS: DTypeError when both are numbers.
  Operands(const char* op, const Operand& a, const Operand& b);
  const Operand& a() const noexcept { return a_; }
  const Operand& b() const noexcept { return b_; }

 private:
  Tensor number_;
  Operand a_;
  Operand b_;
};

/// A rank-0 tensor of one number, in any space that has a runtime.
Tensor constant(double value, DType dtype, tensor::SpaceId space,
                const CallSite& site);

/// Sums `x` over the axes that broadcasting `shape` to x's shape added or
/// stretched. The identity (the same handle) where nothing was.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace neap::ops
