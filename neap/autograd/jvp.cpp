// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/jvp.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "neap/base/raise.hpp"
#include "neap/graph/rules.hpp"
#include "neap/memory/containers.hpp"
#include "neap/ops/fill.hpp"

namespace neap {
namespace {

using base::raise;

// Carries tangents beside the values of every op call. Ops are passed on to
// the recorder that was there before, so that calls nest: an inner tangent is
// an ordinary value to the outer one.
class TangentRecorder final : public graph::Recorder {
 public:
  TangentRecorder() : outer_(memory::context().recorder) {}

  void set(const Tensor& value, const Tensor& tangent) {
    // By array: a residual on the tape is the same array without the handle, so
    // that tangents go through a backward too. The value is kept, since another
    // array could take its place in memory.
    tangents_.insert_or_assign(value.array().get(), Pair{value, tangent});
    if (tangents_.size() >= next_sweep_) {
      sweep();
    }
  }
  Tensor tangent_of(const Tensor& value) const {
    const auto found = tangents_.find(value.array().get());
    return found != tangents_.end() ? found->second.tangent : Tensor();
  }

  void record(const graph::OpCall& call, std::span<Tensor> outputs) override {
    const graph::UseRecorder outer(outer_);
    memory::Vector<Tensor> tangents;
    memory::Vector<Operand> inputs;  // handles kept: no input may be donated
    bool any = false;
    for (const Operand& input : call.inputs) {
      tangents.push_back(tangent_of(input.tensor()));
      inputs.emplace_back(input.tensor(), input.site());
      any = any || tangents.back().defined();
    }
    graph::Recorder& next = outer_ != nullptr ? *outer_ : graph::eager();
    const graph::OpCall kept{call.op, inputs, call.attrs, call.site};
    next.record(kept, outputs);
    if (!any || !is_floating(outputs[0].dtype())) {
      return;
    }
    if (call.op.jvp == nullptr) {
      raise<GraphError>("jvp: '{}' has no forward derivative rule",
                        call.op.name);
    }
    std::array<Tensor, graph::kMaxOutputs> results;
    graph::JvpContext context(kept, outputs, tangents,
                              std::span(results).first(outputs.size()));
    call.op.jvp(context);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (results[k].defined()) {
        set(outputs[k], results[k]);
      }
    }
  }

 private:
  struct Pair {
    Tensor value;
    Tensor tangent;
  };
  using Entry = std::pair<const void* const, Pair>;

  // Forgets values that only this table still holds: no op can be given them
  // any more. At every doubling, so that it costs O(1) an op.
  void sweep() {
    std::erase_if(tangents_, [](const Entry& entry) {
      const Tensor& value = entry.second.value;
      return value.has_sole_handle() && value.array()->is_unique();
    });
    next_sweep_ = std::max<std::size_t>(kFirstSweep, 2 * tangents_.size());
  }

  static constexpr std::size_t kFirstSweep = 16;

  graph::Recorder* outer_;
  std::size_t next_sweep_ = kFirstSweep;
  std::unordered_map<const void*, Pair, std::hash<const void*>, std::equal_to<>,
                     memory::Allocator<Entry>>
      tangents_;
};

}  // namespace

JvpResult jvp(const std::function<Tensor(std::span<const Tensor>)>& f,
              std::span<const Tensor> primals,
              std::span<const Tensor> tangents) {
  if (primals.size() != tangents.size()) {
    raise<ShapeError>("jvp: {} tangents for {} primals", tangents.size(),
                      primals.size());
  }
  TangentRecorder recorder;
  memory::Vector<Tensor> handles;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    if (primals[i].spec() != tangents[i].spec()) {
      raise<ShapeError>("jvp: tangent {} of shape {} for a primal of shape {}",
                        i, format_shape(tangents[i].shape()),
                        format_shape(primals[i].shape()));
    }
    handles.push_back(primals[i].alias());
    recorder.set(handles.back(), tangents[i]);
  }
  JvpResult result;
  {
    const graph::UseRecorder guard(&recorder);
    result.value = f(handles);
  }
  result.tangent = recorder.tangent_of(result.value);
  if (!result.tangent.defined()) {
    result.tangent = ops::filled(result.value.spec(), 0.0, CallSite::here());
  }
  return result;
}

}  // namespace neap
