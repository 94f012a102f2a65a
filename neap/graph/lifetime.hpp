// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The end of graph nodes, on purpose and watched.
#pragma once

#include <string_view>

#include "neap/memory/context.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::graph {

/// Frees, now, what the graph keeps for `t` alone; what another live result
/// needs stays, so do the gradients of leaves, and the value of `t` stays
/// readable. From then on a backward from `t`, or from a result of it, refuses
/// and names this line. Nothing happens to a leaf, to a tensor that no graph
/// records, or to one that was released. It applies to all copies of the
/// handle.
/// THROWS: UseAfterRelease when undefined. Never fails for want of memory.
NEAP_API void release(const Tensor& t, CallSite site = CallSite::here());

/// The reason for which a node freed its residuals.
enum class Why : std::uint8_t {
  kConsumed,      // a backward passed it
  kUnavailable,   // something it was computed from was consumed or released
  kUnreferenced,  // nothing needed it any more
  kReleased,      // graph::release
};
NEAP_API std::string_view name_of(Why why) noexcept;

struct FreedNode {
  std::string_view op;
  base::SiteId site;      // line that recorded it
  memory::OwnerId owner;  // owner in `domain`
  memory::Domain* domain;
  std::uint64_t sequence;  // number among all nodes of the process
  Bytes residual_bytes;    // under the arrays it kept; others may hold them too
  Why why;
};

/// Is told of each node when its residuals are freed: once, in the thread that
/// frees them. It must not throw, and must not touch the graph.
class NEAP_API Observer {
 public:
  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual void freed(const FreedNode& node) noexcept = 0;
};

/// Has `observer` told of what ends in this thread, inside the block.
class NEAP_API UseObserver : public tensor::ExecutionGuard {
 public:
  explicit UseObserver(Observer& observer)
      : ExecutionGuard(
            [&observer](tensor::Execution& c) { c.observer = &observer; }) {}
};

}  // namespace neap::graph
