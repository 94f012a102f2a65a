// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A call as the rules of its op see it.
#pragma once

#include <span>

#include "neap/graph/rows.hpp"
#include "neap/program/program.hpp"
#include "neap/program/rows.hpp"

namespace neap::compiler {

/// How a call treats rows: the rule of its op, or of a kernel that is no op's.
struct KernelRule {
  const kernels::KernelList* kernels;
  graph::RowRule rule;
  bool is_adder = false;  // adds to what its outputs are over
};
KernelRule rule_of(const Call& call);

/// The arguments of an op's rules for a call, or for a part of its rows. Keeps
/// the specs that they refer to.
class CallSpecs {
 public:
  CallSpecs(const Program& program, const Call& call);

  /// The inputs for `count` rows; axes: of the rows in each input.
  void cut(const RowForm& form, std::span<const int> axes, std::int64_t count);
  /// For an input of another shape (Held::kApart).
  void set_input(std::size_t k, const Shape& shape) {
    inputs_[k].shape = shape;
  }

  graph::OpArgs args() const;
  std::span<const tensor::Spec> outputs() const { return outputs_; }
  /// The outputs that the op's shape rule gives for these inputs; false where
  /// it refuses them.
  bool infer(std::span<tensor::Spec> out) const;

 private:
  const graph::Op* op_;
  graph::Attrs attrs_;
  memory::Vector<tensor::Spec> inputs_;
  memory::Vector<tensor::Spec> outputs_;
};

}  // namespace neap::compiler
