// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The end of a walk: staged cotangents become gradients. All sums are made
// first, since they may find no memory; then they are put in place.
#include <algorithm>

#include "neap/autograd/cotangents.hpp"
#include "neap/autograd/own_memory.hpp"
#include "neap/autograd/walk.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::autograd {

using graph::Extras;
using graph::Hook;
using graph::Vertex;
using memory::Category;

// Several threads may add to one leaf: each holds all the leaves that it adds
// to, in order of address, so that no sum is lost and none waits for ever.
class Walk::Accumulation {
 public:
  explicit Accumulation(const Walk& walk) {
    for (const Sink& sink : walk.sinks_) {
      if (sink.is_target && sink.cotangent.defined()) {
        leaves_.push_back(&sink.leaf());
      }
    }
    std::sort(leaves_.begin(), leaves_.end(), std::less<>());
    for (graph::Leaf* leaf : leaves_) {
      leaf->accumulation().lock();
    }
  }
  ~Accumulation() {
    for (graph::Leaf* leaf : leaves_) {
      leaf->accumulation().unlock();
    }
  }
  Accumulation(const Accumulation&) = delete;
  Accumulation& operator=(const Accumulation&) = delete;

 private:
  memory::Vector<graph::Leaf*> leaves_;
};

Tensor Walk::sum_of(const Vertex& vertex, Tensor staged,
                    const Tensor& old) const {
  const memory::ContextGuard guard([&](memory::Context& c) {
    c.owner = owner_here(vertex);
    c.site = site_;
    c.category = Category::kGradients;
  });
  const tensor::UseGradMode mode(options_.create_graph);
  if (old.is_given()) {
    staged = plus(std::move(staged), old);
  }
  // A gradient is nobody else's memory, so that it may be changed in place.
  if (!owns_all_of_its_storage(staged)) {
    staged = duplicate(staged);
  }
  memory::detach_from_scope(staged);  // a hook may give what a scope has
  staged.array()->storage()->retag(Category::kGradients, owner_here(vertex));
  return staged;
}

void Walk::commit() {
  {
    const Accumulation accumulation(*this);
    for (Sink& sink : sinks_) {
      if (sink.is_target && sink.cotangent.defined()) {
        sink.cotangent =
            sum_of(sink.leaf(), std::move(sink.cotangent), sink.leaf().grad());
      }
    }
    for (Kept& kept : kept_) {
      const auto& vertex = static_cast<const Vertex&>(*kept.link);
      kept.cotangent = sum_of(vertex, std::move(kept.cotangent),
                              vertex.extras()->kept_grad(kept.output));
    }
    for (Sink& sink : sinks_) {
      if (sink.is_target && sink.cotangent.defined()) {
        sink.leaf().set_grad(std::move(sink.cotangent));
        sink.is_committed = true;
      }
    }
    for (Kept& kept : kept_) {
      static_cast<const Vertex&>(*kept.link)
          .extras()
          ->set_kept_grad(kept.output, std::move(kept.cotangent));
    }
  }
  const tensor::UseGradMode guard(options_.create_graph);
  for (const Sink& sink : sinks_) {
    if (sink.is_committed && sink.leaf().extras() != nullptr) {
      const auto extras = base::Ref<Extras>::share(sink.leaf().extras());
      if (extras->has(Hook::When::kAfterAccumulate, 0)) {
        extras->run_hooks(Hook::When::kAfterAccumulate, 0, sink.leaf().grad());
      }
    }
  }
}

}  // namespace neap::autograd
