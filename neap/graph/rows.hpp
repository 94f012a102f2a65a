// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows: the samples of a batch, along one axis of an operand. A rule says how
// an op treats them, so that a call can run for some rows of the batch at a
// time (program/pass_shards.cpp).
#pragma once

#include <cstdint>
#include <span>

#include "neap/tensor/layout.hpp"

namespace neap::graph {

struct OpArgs;

/// The axis of each operand of a call that holds rows, or one of these.
struct RowAxes {
  static constexpr int kWhole = -1;   // an input that all rows read
  static constexpr int kSummed = -2;  // an output: a sum over rows
  static constexpr int kApart = -3;   // each part has one, of a shape that the
                                      // op's shape rule gives (packed bits)
  /// At the call of a rule: what is known of each input. Afterwards: the axis
  /// along which it is cut, so that a rule may cut an input that was whole.
  std::span<int> inputs;
  std::span<int> outputs;  // the rule's answer
};

enum class RowUse : std::uint8_t {
  kUnknown,   // no rule, or rows depend on one another
  kEach,      // some rows of the inputs give the same rows of the outputs
  kOnto,      // the same, but a sum over rows goes on from input 0
  kTogether,  // all rows are needed at once; the outputs' axes hold rows
};

/// How a call of an op treats rows. `args`: of the whole batch.
using RowRule = RowUse (*)(const OpArgs& args,
                           std::span<const tensor::Spec> outputs,
                           const RowAxes& axes);

}  // namespace neap::graph
