// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TangentRecorder: carries the tangents of one pass of forward mode beside the
// values of every op call, from each op's jvp rule. Calls are passed on to the
// recorder that was there before, so that passes nest: an inner tangent is an
// ordinary value to the outer one.
#pragma once

#include "neap/graph/replay.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/tangent.hpp"

namespace neap::autograd {

class TangentRecorder final : public graph::Recorder, public graph::Replay {
 public:
  /// `create_graph`: the rules' ops are recorded for reverse mode wherever the
  /// values' are; false: never.
  explicit TangentRecorder(bool create_graph)
      : outer_(tensor::thread_execution().recorder),
        create_graph_(create_graph) {}

  /// Undefined: zero.
  void set(const Tensor& value, const Tensor& tangent) {
    if (tangent.is_given()) {
      level_.set(value, tangent);
    }
  }
  /// A new handle, in the current scope.
  Tensor tangent_or_zeros(const Tensor& value) const;

  /// The same as Recorder says, but that a failed call may have taken over an
  /// rvalue that it was given.
  void record(const graph::OpCall& call, std::span<Tensor> outputs) override;
  bool runs_again() const noexcept override {
    return graph::runs_again(outer_);
  }

 private:
  void differentiate(const graph::OpCall& call,
                     std::span<const Tensor> tangents,
                     std::span<const Tensor> outputs);

  graph::Recorder* outer_;
  bool create_graph_;
  tensor::TangentLevel level_;
};

/// THROWS: DTypeError for a primal that is not floating; ShapeError,
/// DTypeError, DeviceError for a tangent that is unlike its primal; ShapeError
/// when there are not as many. A default-made one is zero.
void check_tangents(const char* op, std::span<const Tensor> primals,
                    std::span<const Tensor> tangents);

/// The same value, with its tangents, out of reverse mode's sight.
Tensor cut(const Tensor& value);

}  // namespace neap::autograd
