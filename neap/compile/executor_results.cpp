// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The results of a run: they go to its caller, to handle objects and to the
// graph.
#include "neap/compile/executor.hpp"
#include "neap/graph/node.hpp"

namespace neap::compiler {

// A retained gradient stays with the handles of its run: where they still hold
// their place on the graph, the coming run has one of its own.
void Executor::renew_places() {
  for (ResultLink& place : program_.result_links) {
    if (place.grad == ResultLink::kNone ||
        graph::is_last_reference(place.link)) {
      continue;
    }
    const auto& last = static_cast<const graph::Node&>(*place.link);
    base::Ref<graph::Node> next = graph::Node::create_retired(
        last.op(), last.site(), last.state(), last.cause(), last.domain());
    next->need_extras().keep_grad(place.output);
    place.link = base::Ref<tensor::GraphLink>::share(next.get());
  }
}

// Links results to the graph of the step, with the gradients retained there.
void Executor::link_results() noexcept {
  for (const ResultLink& own : program_.result_links) {
    if (program_.results[own.result].shared != SharedWith::kNothing) {
      continue;  // what it is a copy of has its place
    }
    const ResultLink& place = own.same_as == ResultLink::kNone
                                  ? own
                                  : program_.result_links[own.same_as];
    results_.next(own.result).set_link(place.link, place.output);
    if (own.grad != ResultLink::kNone) {
      static_cast<graph::Vertex&>(*own.link).extras()->set_kept_grad(
          own.output, results_.next(own.grad));
    }
  }
}

Tensor Executor::gradient(std::size_t i) const noexcept {
  return static_cast<const graph::Leaf&>(*program_.grads[i].leaf).grad();
}

// Results that are tensors of before the run, as long as handles and leaves
// mean them.
void Executor::take_shared(std::span<const Tensor> arguments,
                           std::span<Tensor> results) const noexcept {
  for (std::size_t r = 0; r < results.size(); ++r) {
    const Result& result = program_.results[r];
    switch (result.shared) {
      case SharedWith::kArgument:
        results[r] = arguments[result.index];
        break;
      case SharedWith::kHeldHandle:
        results[r] = guards_.held(result.index);
        break;
      case SharedWith::kReboundHandle:
        results[r] = guards_.state(result.index);
        break;
      case SharedWith::kEntryGradient:
        results[r] = gradient(result.index);
        break;
      default:
        break;
    }
  }
}

// Results that are tensors of the run.
void Executor::share_results(std::span<Tensor> results) const noexcept {
  for (std::size_t r = 0; r < results.size(); ++r) {
    const Result& result = program_.results[r];
    if (result.shared == SharedWith::kResult) {
      results[r] = results[result.index];
    } else if (result.shared == SharedWith::kLastGradient) {
      results[r] = gradient(result.index);
    }
  }
}

void Executor::set_states(std::span<Tensor> results) const noexcept {
  for (std::size_t i = 0; i < program_.rebound_handles.size(); ++i) {
    const std::uint32_t result = program_.rebound_handles[i].result;
    guards_.state(i) =
        result != ReboundHandle::kNone ? std::move(results[result]) : Tensor();
  }
}

}  // namespace neap::compiler
