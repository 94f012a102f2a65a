// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One call of each primitive op, for measuring. Ops with a meaning of their own
// have an example (op_examples.cpp): a short program, as users write them, from
// which the op's call is taken as it passes the dispatch point; one example may
// serve several ops, gradients among them. For all others a call is found by
// trying what the shape rule accepts: one, two or three equal matrices, and a
// set of axes. Last, a call that some example makes in passing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "neap/graph/op.hpp"
#include "neap/graph/recorder.hpp"

namespace neap::bench {

/// How large operands are.
struct Extents {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t side = 0;  // of the square matrices of products and solvers
};

/// A call and its operands, ready to be made again and again.
class OpCalled {
 public:
  OpCalled(const graph::Op& op, std::vector<Tensor> inputs,
           const graph::Attrs& attrs);

  /// Through the dispatch point, without a tape; the results are dropped.
  void run() const;

  const graph::Op& op() const noexcept { return *op_; }
  /// The cost of a call, by the op's facts.
  const graph::Cost& cost() const noexcept { return cost_; }
  /// Operands that are at least a tenth of all bytes moved, and whether what is
  /// written is.
  int reads() const noexcept { return reads_; }
  int writes() const noexcept { return writes_; }

 private:
  graph::Attrs attrs() const noexcept {
    return {attrs_.data(), static_cast<std::uint32_t>(attrs_.size())};
  }

  const graph::Op* op_;
  std::vector<Tensor> inputs_;
  std::vector<std::byte> attrs_;
  graph::Cost cost_;
  int reads_ = 0;
  int writes_ = 0;
};

/// Bit patterns that are numbers between 0.25 and 1.25, all different in a
/// row; or labels below `below`.
Tensor numbers(const Shape& shape, DType dtype = f32);
Tensor labels(const Shape& shape, std::int64_t below);

/// A call of `op`, or nothing where neither way leads to one.
std::optional<OpCalled> sample_call(const graph::Op& op,
                                    const Extents& extents);

/// A program whose ops are looked at.
struct Example {
  const char* names;  // of the ops it is there for
  void (*run)(const Extents& extents);
};

std::span<const Example> examples();

}  // namespace neap::bench
