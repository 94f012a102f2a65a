// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by many ops: shape rules, scalars beside tensors, and the reduction of
// a cotangent to a broadcast operand's shape. For sources of ops only.
#pragma once

#include <algorithm>
#include <array>

#include "neap/base/raise.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/rules.hpp"
#include "neap/ops/rows.hpp"

namespace neap::ops {

using base::raise;
using graph::Attrs;
using graph::Cost;
using graph::JvpContext;
using graph::Op;
using graph::OpArgs;
using graph::Spec;
using graph::VjpContext;
using tensor::Layout;

/// Shape rules. Signed: f32, f64, i32, i64.
void infer_same(const OpArgs& args, std::span<Spec> out);
void infer_signed(const OpArgs& args, std::span<Spec> out);
void infer_floating(const OpArgs& args, std::span<Spec> out);
/// All operands have the shape and dtype of the first; f32, f64.
void infer_gradient(const OpArgs& args, std::span<Spec> out);
/// Broadcast: any dtype, f32 to i64, f32 and f64, any to bool.
void infer_broadcast(const OpArgs& args, std::span<Spec> out);
void infer_arithmetic(const OpArgs& args, std::span<Spec> out);
void infer_broadcast_floating(const OpArgs& args, std::span<Spec> out);
void infer_comparison(const OpArgs& args, std::span<Spec> out);

/// THROWS: DTypeError unless all inputs have the dtype of the first.
void check_same_dtype(const OpArgs& args);
/// THROWS: DTypeError unless f32 or f64.
void check_computes(std::string_view op, DType dtype);
/// THROWS: DTypeError unless f32, f64, i32 or i64.
void check_signed(std::string_view op, DType dtype);
void check_dtype(std::string_view op, DType dtype, DType expected);

/// The operand's tensor. THROWS: DTypeError for a plain number.
const Tensor& tensor_of(std::string_view op, const Operand& operand);

/// Gives the ops that a composite is made of its own caller's site, unless
/// they have one already.
class AtSite : public memory::ContextGuard {
 public:
  explicit AtSite(const Operand& operand)
      : ContextGuard([&](memory::Context& c) {
          if (c.site.value == 0) {
            c.site = base::intern(operand.site());
          }
        }) {}
};

/// Attributes that are one shape or order of axes.
struct ShapeAttrs {
  std::array<std::int64_t, kMaxRank> extents{};
  std::int64_t rank = 0;

  ShapeAttrs() = default;
  explicit ShapeAttrs(const Shape& shape) noexcept : rank(shape.rank()) {
    std::copy(shape.begin(), shape.end(), extents.begin());
  }
  Shape shape() const {
    return Shape(std::span(extents).first(static_cast<std::size_t>(rank)));
  }
};

/// The operand as a tensor: a number becomes rank 0 of the other's dtype and
/// space. The holder keeps it alive for the call.
class Operands {
 public:
  /// THROWS: DTypeError for two numbers, or one that the other's dtype lacks.
  Operands(std::string_view op, const Operand& a, const Operand& b);
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  const Operand& a() const noexcept { return a_; }
  const Operand& b() const noexcept { return b_; }

 private:
  Tensor number_;
  Operand a_;
  Operand b_;
};

/// Calls an op of two operands, of which one may be a number. THROWS:
/// DTypeError when both are.
Tensor apply_pair(const Op& op, const Operand& a, const Operand& b);

/// A rank-0 tensor of one number, in any space that has a runtime.
Tensor constant(double value, DType dtype, tensor::SpaceId space,
                const CallSite& site);

/// Sums `x` over the axes that broadcasting `shape` to x's shape added or
/// stretched. The identity (the same handle) where nothing was.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// a + b, where an undefined one is zero.
Tensor add_defined(Tensor a, Tensor b);

/// A cost of so many flops, every operand moved once.
Cost moving(const OpArgs& args, std::span<const Spec> outputs,
            std::int64_t flops);

}  // namespace neap::ops
