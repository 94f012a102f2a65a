// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ops as users call them, each beside the expression of PyTorch that means the
// same. peers/ops_torch.py evaluates the expressions and says what names they
// may use; the operands here have the same extents and values.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "neap/tensor/tensor.hpp"

namespace neap::bench {

enum class OperandLayout : std::uint8_t { kContiguous, kTransposed };

/// Names of operands, made when an op asks for them and kept for later calls.
class PeerOperands {
 public:
  PeerOperands(std::int64_t rows, std::int64_t columns, OperandLayout layout,
               std::int64_t axis);

  Tensor x() { return numbered(0); }
  Tensor y() { return numbered(1); }
  Tensor z() { return numbered(2); }
  Tensor mask();    // x > 0.5
  Tensor index();   // (rows, columns), below the axis's extent
  Tensor weight();  // (columns, columns)
  Tensor row();     // (1, columns)
  Tensor column();  // (columns)
  Tensor systems();
  Tensor labels();
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t axis() const { return axis_; }

  /// x becomes a leaf that wants a gradient.
  void differentiate_x();

 private:
  Tensor numbered(std::size_t which);
  Tensor matrix() const;

  std::int64_t rows_;
  std::int64_t columns_;
  OperandLayout layout_;
  std::int64_t axis_;
  std::array<Tensor, 3> matrices_;
  Tensor mask_, index_, weight_, row_, column_, systems_, labels_;
};

struct PeerOp {
  const char* name;
  const char* torch;  // the expression
  Tensor (*run)(PeerOperands& o);
  bool has_axis = false;     // once for each axis
  bool has_gradient = true;  // of x
  bool has_layouts = true;   // transposed too
};

std::span<const PeerOp> peer_ops();

}  // namespace neap::bench
