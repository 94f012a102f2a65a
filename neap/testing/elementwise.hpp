// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tables for the commonest kinds of op: element by element, of one operand or
// of two that broadcast. A table made here may be added to.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "neap/graph/operand.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

/// y = f(x). Rows: a matrix, rank 0, one large enough for several threads, no
/// elements, the kinks and the edges. `domain` says where the values lie; its
/// shape is not used.
struct UnaryOp {
  struct Kink {
    double x, y, slope;
  };
  struct Edge {  // its derivative is not looked at
    double x, y;
  };

  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const TensorOperand&) = nullptr;
  double (*reference)(double) = nullptr;
  InputSpec domain{};
  bool takes_integers = false;  // else integers must throw DTypeError
  bool differentiable = true;
  std::vector<Kink> kinks{};
  std::vector<Edge> edges{};
};
NEAP_API OpTable unary_table(const UnaryOp& op);
NEAP_API std::vector<OpTable> unary_tables(std::span<const UnaryOp> ops);
inline std::vector<OpTable> unary_tables(std::initializer_list<UnaryOp> ops) {
  return unary_tables(std::span(ops.begin(), ops.size()));
}

/// y = f(a, b). Rows: equal shapes, broadcast ones, rank 0 beside a vector,
/// large, no elements. Errors: shapes that do not broadcast, two dtypes.
struct BinaryOp {
  struct Kink {
    double a, b, y, slope_a, slope_b;
  };
  struct Edge {
    double a, b, y;
  };
  std::string name{};
  const graph::Op* op = nullptr;
  Tensor (*fn)(const Operand&, const Operand&) = nullptr;
  double (*reference)(double, double) = nullptr;
  InputSpec a{};
  InputSpec b{};
  bool takes_integers = false;
  bool differentiable = true;
  std::vector<Kink> kinks{};
  std::vector<Edge> edges{};
};
NEAP_API OpTable binary_table(const BinaryOp& op);
NEAP_API std::vector<OpTable> binary_tables(std::span<const BinaryOp> ops);
inline std::vector<OpTable> binary_tables(std::initializer_list<BinaryOp> ops) {
  return binary_tables(std::span(ops.begin(), ops.size()));
}

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
