// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/comparison.hpp"

#include <limits>

#include "neap/kernels/elementwise/compare.hpp"
#include "neap/kernels/elementwise/logical.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

constexpr Op comparison(std::string_view name, std::string_view formula,
                        const kernels::KernelList& kernel) {
  return {.name = name,
          .formula = formula,
          .infer = infer_comparison,
          .kernel = &kernel,
          .facts = {.rows = rows_by_element}};
}

void infer_connective(const OpArgs& args, std::span<Spec> out) {
  check_dtype(args.name, args.inputs[0].dtype, boolean);
  infer_broadcast(args, out);
}

constexpr Op connective(std::string_view name, std::string_view formula,
                        const kernels::KernelList& kernel) {
  return {.name = name,
          .formula = formula,
          .infer = infer_connective,
          .kernel = &kernel,
          .facts = {.donates = 0b11, .rows = rows_by_element}};
}

}  // namespace

constinit const Op kEq = comparison("eq", "y = a == b", kernels::eq_kernels);

constinit const Op kNe = comparison("ne", "y = a != b", kernels::ne_kernels);

constinit const Op kLt = comparison("lt", "y = a < b", kernels::lt_kernels);

constinit const Op kLe = comparison("le", "y = a <= b", kernels::le_kernels);

constinit const Op kGt = comparison("gt", "y = a > b", kernels::gt_kernels);

constinit const Op kGe = comparison("ge", "y = a >= b", kernels::ge_kernels);

constinit const Op kLogicalAnd =
    connective("logical_and", "y = a and b", kernels::logical_and_kernels);

constinit const Op kLogicalOr =
    connective("logical_or", "y = a or b", kernels::logical_or_kernels);

constinit const Op kLogicalXor = connective(
    "logical_xor", "y = a or b, but not both", kernels::logical_xor_kernels);

}  // namespace ops

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

Tensor eq(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kEq, a, b);
}

Tensor ne(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kNe, a, b);
}

Tensor lt(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kLt, a, b);
}

Tensor le(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kLe, a, b);
}

Tensor gt(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kGt, a, b);
}

Tensor ge(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kGe, a, b);
}

Tensor isnan(const TensorOperand& x) {
  ops::check_computes("isnan", ops::tensor_of("isnan", x).dtype());
  const ops::AtSite site(x);
  return ne(x, x);
}

Tensor isinf(const TensorOperand& x) {
  ops::check_computes("isinf", ops::tensor_of("isinf", x).dtype());
  const ops::AtSite site(x);
  return eq(abs(x), kInfinity);
}

Tensor isfinite(const TensorOperand& x) {
  ops::check_computes("isfinite", ops::tensor_of("isfinite", x).dtype());
  const ops::AtSite site(x);
  return lt(abs(x), kInfinity);
}

Tensor logical_and(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kLogicalAnd, a, b);
}

Tensor logical_or(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kLogicalOr, a, b);
}

Tensor logical_xor(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kLogicalXor, a, b);
}

Tensor logical_not(const TensorOperand& x) {
  ops::check_dtype("logical_not", ops::tensor_of("logical_not", x).dtype(),
                   boolean);
  return eq(x, 0);
}

}  // namespace neap
