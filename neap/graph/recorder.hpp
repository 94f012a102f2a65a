// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The dispatch point. Every op call of every room is passed to the current
// recorder: the eager one runs it at once and, where a derivative is wanted,
// puts a node on the tape; another may trace it, or carry tangents.
#pragma once

#include <initializer_list>
#include <span>

#include "neap/graph/op.hpp"
#include "neap/graph/operand.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

struct OpCall {
  const Op& op;
  std::span<const Operand> inputs;  // tensors, no numbers
  Attrs attrs;
  base::SiteId site;
};

class NEAP_API Recorder {
 public:
  Recorder() = default;
  virtual ~Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Creates the outputs of one call. Strong: it either fills all of `outputs`
  /// (undefined before) or throws and leaves everything unchanged.
  virtual void record(const OpCall& call, std::span<Tensor> outputs) = 0;
};

/// The recorder that runs ops at once.
NEAP_API Recorder& eager() noexcept;

/// Sends a call to the current recorder. `site` yields to the context's.
NEAP_API void dispatch(const Op& op, std::span<const Operand> inputs,
                       const Attrs& attrs, const CallSite& site,
                       std::span<Tensor> outputs);

/// The usual form: one output, the site of the first operand.
NEAP_API Tensor apply(const Op& op, std::initializer_list<Operand> inputs,
                      const Attrs& attrs = {});

/// Makes `recorder` the current thread's for a block of code; nullptr stands
/// for the eager one.
class NEAP_API UseRecorder : public tensor::ExecutionGuard {
 public:
  explicit UseRecorder(Recorder* recorder)
      : ExecutionGuard(
            [recorder](tensor::Execution& c) { c.recorder = recorder; }) {}
};

}  // namespace neap::graph

namespace neap {

/// Ops inside the block leave nothing on the tape.
class NEAP_API NoGrad : public tensor::ExecutionGuard {
 public:
  NoGrad()
      : ExecutionGuard([](tensor::Execution& c) { c.grad_enabled = false; }) {}
};

/// Undoes an outer NoGrad.
class NEAP_API EnableGrad : public tensor::ExecutionGuard {
 public:
  EnableGrad()
      : ExecutionGuard([](tensor::Execution& c) { c.grad_enabled = true; }) {}
};

}  // namespace neap
