// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/tangent_recorder.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "neap/autograd/cotangents.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/rules.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::autograd {
namespace {

using tensor::LooseTangent;
using tensor::TangentLevel;

constexpr std::size_t kInPlace = 4;  // inputs of most calls

// A T for each input: in place for the usual few, allocated for more.
template <class T>
class PerInput {
 public:
  template <class Make>
  PerInput(std::size_t count, const Make& make)
      : few_{make(), make(), make(), make()} {
    if (count > kInPlace) {
      many_.emplace().reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        many_->push_back(make());
      }
    }
    items_ = many_ ? std::span<T>(*many_) : std::span<T>(few_).first(count);
  }
  PerInput(const PerInput&) = delete;
  PerInput& operator=(const PerInput&) = delete;
  std::span<T> span() const noexcept { return items_; }
  T& operator[](std::size_t i) const noexcept { return items_[i]; }

 private:
  std::array<T, kInPlace> few_;
  std::optional<memory::Vector<T>> many_;
  std::span<T> items_;
};

// Tangents off the arrays of temporaries that the call may take over: such an
// array means the output afterwards, and has none while it is handed on. Where
// the call did not take one, its tangent is put back.
class Lifted {
 public:
  Lifted(TangentLevel& level, std::span<const Operand> inputs)
      : level_(level),
        inputs_(inputs),
        loose_(inputs.size(), [] { return LooseTangent(); }) {}
  ~Lifted() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (loose_[i] && inputs_[i].tensor().defined()) {
        level_.put_back(inputs_[i].tensor(), std::move(loose_[i]));
      }
    }
  }
  Lifted(const Lifted&) = delete;
  Lifted& operator=(const Lifted&) = delete;

  void lift(std::size_t i) noexcept {
    loose_[i] = level_.take(inputs_[i].tensor());
  }

 private:
  TangentLevel& level_;
  std::span<const Operand> inputs_;
  PerInput<LooseTangent> loose_;
};

bool is_in(std::uint32_t mask, std::size_t i) noexcept {
  return (mask >> std::min<std::size_t>(i, 31) & 1U) != 0;
}

}  // namespace

void TangentRecorder::record(const graph::OpCall& call,
                             std::span<Tensor> outputs) {
  const graph::UseRecorder outer(outer_);
  graph::Recorder& next = outer_ != nullptr ? *outer_ : graph::eager();
  const std::size_t count = call.inputs.size();
  PerInput<Tensor> tangents(count, [] { return Tensor(); });
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    tangents[i] = level_.of(call.inputs[i].tensor());
    any = any || tangents[i].defined();
  }
  if (!any) {
    next.record(call, outputs);
    return;
  }
  // Tensors that the rule will read are no temporaries any more.
  const std::uint32_t kept = graph::JvpContext::reads(call.op, tangents.span());
  PerInput<Operand> inputs(count, [] { return Operand(0.0, CallSite()); });
  for (std::size_t i = 0; i < count; ++i) {
    const Operand& input = call.inputs[i];
    inputs[i] = is_in(kept, i) ? Operand(input.tensor(), input.site()) : input;
  }
  const graph::OpCall passed{call.op, inputs.span(), call.attrs, call.site};
  {
    Lifted lifted(level_, passed.inputs);
    for (std::size_t i = 0; i < count; ++i) {
      if (inputs[i].temporary() != nullptr) {
        lifted.lift(i);
      }
    }
    next.record(passed, outputs);
  }
  if (is_floating(outputs[0].dtype())) {
    try {
      differentiate(passed, tangents.span(), outputs);
    } catch (...) {
      std::fill(outputs.begin(), outputs.end(), Tensor());
      throw;
    }
  }
}

void TangentRecorder::differentiate(const graph::OpCall& call,
                                    std::span<const Tensor> tangents,
                                    std::span<const Tensor> outputs) {
  if (call.op.jvp == nullptr) {
    base::raise<GraphError>("jvp: '{}' has no forward derivative rule",
                            call.op.name);
  }
  // A tangent goes with its value, whatever scope that was made in.
  const memory::OutsideScopes apart;
  const tensor::UseGradMode mode(tensor::thread_execution().grad_enabled &&
                                 create_graph_);
  std::array<Tensor, graph::kMaxOutputs> results;
  graph::JvpContext context(call, outputs, tangents,
                            std::span(results).first(outputs.size()));
  {
    const UsePrecision as_called(Precision::kF32);  // products know their own
    call.op.jvp(context);
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (results[k].defined()) {
      level_.set(outputs[k], std::move(results[k]));
    }
  }
}

Tensor TangentRecorder::tangent_or_zeros(const Tensor& value) const {
  const Tensor tangent = level_.of(value);
  return tangent.defined()
             ? Tensor(tangent.array(), tangent.link(), tangent.output_index())
             : zeros_of(value.spec(), CallSite::here());
}

void check_tangents(const char* op, std::span<const Tensor> primals,
                    std::span<const Tensor> tangents) {
  if (primals.size() != tangents.size()) {
    base::raise<ShapeError>("{}: {} tangents for {} primals", op,
                            tangents.size(), primals.size());
  }
  for (std::size_t i = 0; i < primals.size(); ++i) {
    if (!is_floating(primals[i].dtype())) {
      base::raise<DTypeError>("{}: a primal of {} carries no derivative", op,
                              name_of(primals[i].dtype()));
    }
    if (!tangents[i].is_given()) {
      continue;
    }
    const tensor::Spec want = primals[i].spec();
    const tensor::Spec got = tangents[i].spec();
    if (got.shape != want.shape) {
      base::raise<ShapeError>(
          "{}: tangent {} of shape {} for a primal of shape {}", op, i,
          format_shape(got.shape), format_shape(want.shape));
    }
    if (got.dtype != want.dtype) {
      base::raise<DTypeError>("{}: tangent {} of {} for a primal of {}", op, i,
                              name_of(got.dtype), name_of(want.dtype));
    }
    if (got.space != want.space) {
      base::raise<DeviceError>(
          "{}: tangent {} lies in memory space {}, its primal in {}", op, i,
          got.space.value, want.space.value);
    }
  }
}

Tensor cut(const Tensor& value) {
  return value.requires_grad() ? Tensor(value.array()) : value;
}

}  // namespace neap::autograd
