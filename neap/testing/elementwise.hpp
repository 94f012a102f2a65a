// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tables for the commonest kinds of op: element by element, of one operand or
// of two that broadcast. A table made here may be added to.
#pragma once

#include "neap/graph/operand.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

/// y = f(x). Rows: a matrix, rank 0, one large enough for several threads, no
/// elements. `domain` says where the values lie; its shape is not used.
struct UnaryOp {
  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const Operand&) = nullptr;
  double (*reference)(double) = nullptr;
  InputSpec domain{};
  bool takes_integers = false;  // else integers must throw DTypeError
  bool differentiable = true;
};
NEAP_API OpTable unary_table(const UnaryOp& op);

/// y = f(a, b). Rows: equal shapes, broadcast ones, rank 0 beside a vector,
/// large, no elements. Errors: shapes that do not broadcast, two dtypes.
struct BinaryOp {
  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const Operand&, const Operand&) = nullptr;
  double (*reference)(double, double) = nullptr;
  InputSpec a{};
  InputSpec b{};
  bool takes_integers = false;
  bool differentiable = true;
};
NEAP_API OpTable binary_table(const BinaryOp& op);

/// A row of literal values with literal derivatives (of ones), for a kink.
/// `cotangents`: one list for each input.
NEAP_API OpRow kink_row(OpFunction fn, std::vector<InputSpec> inputs,
                        std::vector<double> value,
                        std::vector<std::vector<double>> cotangents,
                        std::vector<double> tangent);

/// A row of values alone, without derivative: infinities, NaN, edges.
NEAP_API OpRow value_row(std::string name, OpFunction fn,
                         std::vector<InputSpec> inputs,
                         std::vector<double> value);

}  // namespace neap::testing
