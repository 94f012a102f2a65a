// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/segment_recorders.hpp"

#include <optional>
#include <string_view>

#include "neap/base/raise.hpp"
#include "neap/graph/versions.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::autograd {

using graph::OpCall;

// --- fingerprint -----------------------------------------------------------

void Fingerprint::mix(std::uint64_t word) noexcept {
  state_ = (state_ ^ word) * 0x9E3779B97F4A7C15U;
  state_ ^= state_ >> 29U;
}

// A view is another tensor than one that starts elsewhere, or goes on
// otherwise.
void Fingerprint::mix_identity(const tensor::Array& array) noexcept {
  const std::uint64_t number = array.storage()->number();
  const bool is_own = made().has(number) || forward_.has(number);
  mix(is_own ? 0 : number);
  mix(static_cast<std::uint64_t>(array.layout().offset));
  for (const std::int64_t stride : array.layout().strides) {
    mix(static_cast<std::uint64_t>(stride));
  }
}

// Compares attributes of random ops alone, where the draw is: others may have
// padding between them.
void Fingerprint::begin(const OpCall& call) {
  ++calls_;
  mix(std::hash<std::string_view>()(call.op.name));
  for (const Operand& input : call.inputs) {
    const tensor::Array& array = *input.tensor().array();
    mix_identity(array);
    mix(graph::version_of(*array.storage()));
  }
  if (call.op.facts.effect == graph::Effect::kRandom &&
      call.op.copy_attrs == nullptr) {
    mix(std::hash<std::string_view>()(
        {static_cast<const char*>(call.attrs.data()), call.attrs.size()}));
  }
}

void Fingerprint::end(std::span<const Tensor> outputs) noexcept {
  for (const Tensor& output : outputs) {
    const Shape& shape = output.array()->shape();
    for (const std::int64_t extent : shape) {
      mix(static_cast<std::uint64_t>(extent));
    }
    mix(static_cast<std::uint64_t>(shape.rank()) << 8U |
        static_cast<std::uint64_t>(output.array()->dtype()));
  }
}

namespace {

// Flops for each byte moved above which a call is compute-bound: a core of
// today makes about so many while memory gives it one byte.
constexpr double kBalance = 4.0;

// Whether a call is compute-bound, in two steps: it may take its operands over.
class Balance {
 public:
  explicit Balance(const OpCall& call) : call_(call) {
    if (call.op.facts.cost != nullptr) {  // else one flop an element
      for (const Operand& input : call.inputs) {
        in_.push_back(input.tensor().spec());
      }
    }
  }
  bool is_compute_bound(std::span<const Tensor> outputs) const {
    if (call_.op.facts.cost == nullptr) {
      return false;
    }
    memory::Vector<graph::Spec> out;
    for (const Tensor& output : outputs) {
      out.push_back(output.spec());
    }
    const graph::Cost cost =
        call_.op.facts.cost({call_.op.name, in_, call_.attrs}, out);
    return static_cast<double>(cost.flops) >
           kBalance * static_cast<double>(cost.read + cost.written);
  }

 private:
  const OpCall& call_;
  memory::Vector<graph::Spec> in_;
};

}  // namespace

// --- forward ---------------------------------------------------------------

void Watcher::add_operand(const Tensor& tensor, Place place) {
  known_.emplace(place, true);
  operands.push_back(tensor);
  places.push_back(place);
}

// Notes operands that are not the function's own; true when one of all requires
// grad.
bool Watcher::note(const OpCall& call) {
  bool any = false;
  for (const Operand& input : call.inputs) {
    const Tensor& tensor = input.tensor();
    if (!tensor.requires_grad()) {
      continue;
    }
    any = true;
    const Place place = Place::of(tensor);
    if (!is_marked(tensor) && known_.find(place) == known_.end()) {
      add_operand(outer_ != nullptr ? outer_->translated(tensor) : tensor,
                  place);
    }
  }
  return any;
}

void Watcher::record(const OpCall& call, std::span<Tensor> outputs) {
  if (call.op.facts.effect == graph::Effect::kStateful) {
    base::raise<GraphError>(
        "rematerialise: '{}' is stateful and cannot be run again, call it "
        "outside",
        call.op.name);
  }
  const bool marks = tensor::thread_execution().grad_enabled &&
                     call.op.vjp != nullptr && note(call);
  std::optional<Balance> balance;
  if (keep_ == Keep::kComputeBound) {
    balance.emplace(call);
  }
  fingerprint.begin(call);
  {
    graph::Recorder& next = outer_ != nullptr
                                ? static_cast<graph::Recorder&>(*outer_)
                                : graph::base_recorder();
    const NoGrad guard;
    next.record(call, outputs);
  }
  fingerprint.end(outputs);
  for (Tensor& output : outputs) {
    if (marks && is_floating(output.dtype())) {
      output.set_link(marker_);
    }
  }
  if (balance && balance->is_compute_bound(outputs)) {
    keep_results(outputs);
  }
}

// A second holder of an array, so that no later op takes its memory over.
void Watcher::keep_results(std::span<const Tensor> outputs) {
  kept_calls.push_back(fingerprint.calls());
  for (const Tensor& output : outputs) {
    kept.push_back(output.array());
  }
}

// --- backward --------------------------------------------------------------

void Replayer::replace(Place place, const Tensor& stand_in) {
  stand_ins_.insert_or_assign(place, stand_in);
  stand_ins_.insert_or_assign(Place::of(stand_in), stand_in);
}

const Tensor& Replayer::translated(const Tensor& tensor) const {
  if (!tensor.requires_grad()) {
    return tensor;
  }
  const auto found = stand_ins_.find(Place::of(tensor));
  if (found == stand_ins_.end()) {
    const auto& vertex = static_cast<const graph::Vertex&>(*tensor.link());
    if (vertex.sequence() > since_) {
      return tensor;  // the function's own
    }
  } else if (found->second.is_alias_of(tensor)) {
    return found->second;
  }
  base::raise<GraphError>(
      "rematerialise: the function uses a tensor of shape {} that requires "
      "grad and that it did not use in its forward",
      format_shape(tensor.shape()));
}

void Replayer::give_kept(const OpCall& call, std::span<Tensor> outputs) {
  for (Tensor& output : outputs) {
    output = Tensor(kept_.front());
    kept_ = kept_.subspan(1);
  }
  kept_calls_ = kept_calls_.subspan(1);
  graph::record_result(call, outputs);
}

void Replayer::record(const OpCall& call, std::span<Tensor> outputs) {
  memory::Vector<Operand> operands;
  bool is_other = false;
  for (const Operand& input : call.inputs) {
    is_other = is_other || &translated(input.tensor()) != &input.tensor();
  }
  if (is_other) {
    operands.reserve(call.inputs.size());
    for (const Operand& input : call.inputs) {
      const Tensor& stand_in = translated(input.tensor());
      operands.push_back(&stand_in == &input.tensor()
                             ? input
                             : Operand(stand_in, input.site()));
    }
  }
  const OpCall translated_call{
      call.op, is_other ? std::span<const Operand>(operands) : call.inputs,
      call.attrs, call.site};
  fingerprint.begin(call);
  if (!kept_calls_.empty() && kept_calls_.front() == fingerprint.calls()) {
    give_kept(translated_call, outputs);
  } else {
    next_.record(translated_call, outputs);
  }
  fingerprint.end(outputs);
}

}  // namespace neap::autograd
