// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rematerialised segments (activation checkpointing): a function whose inner
// values are not kept for the backward pass but recomputed in it. A chain of
// segments keeps the values between them, and the inner values of one at a
// time:
//
//   forward    x --[ segment ]-- h --[ segment ]-- y      kept: x, h
//   backward                     h --[ again ]-- y        then dh
//              x --[ again ]-- h                          then dx
//
//   const auto block = rematerialise(
//       [&layer](const Tensor& x) { return relu(layer(x)); });
//   y = block(block(x));
//
// The bits are those of the same calls without the segment: the function runs
// again on the same values, with the same draws of the generator, and every
// cotangent is added in the same order. Second derivatives are an exception:
// with create_graph, the cotangents of a value inside of a segment are summed
// before they join the rest, so that the last bits may differ
// (docs/numerics.md).
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <utility>

#include "neap/autograd/segment.hpp"

namespace neap::autograd {

/// A function that is a segment, from rematerialise(). Copies share it. It
/// takes and returns what the function takes and returns: some tensors, or a
/// span of them; a tensor, or a tuple, pair, array or vector of some (at most
/// graph::kMaxOutputs that depend on what requires grad).
template <class F>
class Segment {
 public:
  Segment(base::Ref<HeldFunction<F>> function, Keep keep,
          base::SiteId site) noexcept
      : function_(std::move(function)), keep_(keep), site_(site) {}

  /// THROWS: what the function throws, with the generator unchanged; GraphError
  /// for a stateful op inside; ValueError for too many results; UseAfterRelease
  /// when this was moved from; OutOfMemory.
  template <std::same_as<Tensor>... Inputs>
  requires std::invocable<const F&, const Inputs&...>
  auto operator()(const Inputs&... inputs) const {
    const std::array<Tensor, sizeof...(Inputs)> handles{inputs...};
    return run(handles, [&] { return function_->get()(inputs...); });
  }
  auto operator()(std::span<const Tensor> inputs)
      const requires std::invocable<const F&, std::span<const Tensor>> {
    return run(inputs, [&] { return function_->get()(inputs); });
  }

 private:
  template <class Call>
  auto run(std::span<const Tensor> inputs, const Call& call) const {
    if (!function_) {
      refuse_moved_segment();
    }
    SegmentRun segment(*function_, inputs, keep_, site_);
    auto value = call();
    if (segment.is_active()) {
      memory::Vector<Tensor> results;
      append_tensors(value, results);
      segment.finish(results);  // the handles in `value` share their nodes
    }
    return value;
  }

  base::Ref<HeldFunction<F>> function_;
  Keep keep_;
  base::SiteId site_;
};

/// The same function as a segment. The function
///  - must do the same when it runs again: the same ops in the same order on
///    the same values (the backward refuses where it sees that it did not);
///  - may use tensors that it captured, parameters of a model too: they get
///    their gradients as always. They must still be the same, unwritten, when
///    the backward runs, which refuses where a captured handle was bound to
///    another tensor or a captured tensor was written (tensors that the
///    function creates itself, in its own thread, are new each time);
///  - may hold segments, take draws of the generator that is current when it
///    is called, and use jvp; it may not run backward or grad over its own
///    values;
///  - gives no gradient of its inner values (retain_grad, grad): return those
///    that are to have one, and ask for the results';
///  - lives, with what it captured, as long as the segment and every result
///    that still needs it.
/// Inside jvp, under NoGrad, and inside another segment's forward, a segment is
/// the plain function. In a step that is traced, the program runs it again.
/// THROWS: OutOfMemory.
template <class F>
auto rematerialise(F&& function, const RematerialiseOptions& options = {},
                   CallSite site = CallSite::here()) {
  using Plain = std::decay_t<F>;
  return Segment<Plain>(
      HeldFunction<Plain>::make(std::forward<F>(function), site), options.keep,
      base::intern(site));
}

}  // namespace neap::autograd

namespace neap {
using autograd::Keep;
using autograd::rematerialise;
using autograd::RematerialiseOptions;
}  // namespace neap
