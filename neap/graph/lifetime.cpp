// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How nodes are retired: one by one as a backward passes them, or by a release,
// and with each node, at once, all that was made from it. Nothing is allocated
// and nothing recurses: what is retired joins a list that runs through the
// retired nodes themselves. Each node is visited once in its life.
#include "neap/graph/lifetime.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/graph/node.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

// --- uses ------------------------------------------------------------------

// False when this node was retired: nothing can be built on it any more.
bool Node::add_use(Edge& edge) noexcept {
  const std::lock_guard guard(lock_);
  if (state() != State::kAvailable) {
    return false;
  }
  edge.next_use = uses_;
  edge.back = &uses_;
  if (uses_ != nullptr) {
    uses_->back = &edge.next_use;
  }
  uses_ = &edge;
  return true;
}

void Node::remove_use(Edge& edge) noexcept {
  const std::lock_guard guard(lock_);
  if (edge.back != nullptr) {
    *edge.back = edge.next_use;
    if (edge.next_use != nullptr) {
      edge.next_use->back = edge.back;
    }
    edge.back = nullptr;
  }
}

// The first edge makes the node known to whoever retires its source: until the
// last one has joined, nobody may end it. A source may have been retired since
// it was looked at.
void Node::join_uses() noexcept {
  const std::span edges(edge_data(), input_count_);
  const bool has_several =
      std::count_if(edges.begin(), edges.end(), [](const Edge& edge) {
        return edge.node_source() != nullptr;
      }) > 1;
  is_claimed_ = has_several;
  std::optional<Cause> cause;
  for (Edge& edge : edges) {
    Node* source = edge.node_source();
    if (source != nullptr && !cause && !source->add_use(edge)) {
      cause = source->cause();
    }
  }
  if (has_several) {
    unclaim();
  }
  if (cause) {
    retire(State::kUnavailable, *cause);
  }
}

// --- claims ----------------------------------------------------------------

bool Node::claim(std::uint32_t mark, std::uint64_t floor) {
  {
    const std::lock_guard guard(lock_);
    if (state() == State::kAvailable) {
      if (sequence() < floor) {
        return false;
      }
      if (!is_claimed_) {
        is_claimed_ = true;
        set_mark(mark);
        return true;
      }
    }
  }
  if (state() != State::kAvailable) {
    refuse_retired();
  }
  base::raise<GraphError>(
      "backward: '{}' recorded at {} is part of another backward that is not "
      "done yet",
      op_->name, base::format_site(site()));
}

std::optional<std::uint64_t> Node::sequence_if_available() const noexcept {
  const std::lock_guard guard(lock_);
  return state() == State::kAvailable ? std::optional(sequence())
                                      : std::nullopt;
}

void Node::refuse_retired() const {
  const Cause why = cause();
  const bool is_own = state() != State::kUnavailable;
  const std::string_view how = why.is_release ? "released" : "consumed";
  if (is_own && why.is_release) {
    base::raise<GraphError>("backward: '{}' recorded at {} was released at {}",
                            op_->name, base::format_site(site()),
                            base::format_site(why.at));
  }
  if (is_own) {
    base::raise<GraphError>(
        "backward: '{}' recorded at {} was already consumed by the backward at "
        "{}; pass retain_graph to the first one to run a second",
        op_->name, base::format_site(site()), base::format_site(why.at));
  }
  base::raise<GraphError>(
      "backward: '{}' recorded at {} cannot be differentiated: '{}' recorded "
      "at {}, which it was computed from, was {} {} {}{}",
      op_->name, base::format_site(site()), why.op->name,
      base::format_site(why.recorded), how,
      why.is_release ? "at" : "by the backward at", base::format_site(why.at),
      why.is_release ? "" : "; pass retain_graph there");
}

// The edges of a doomed node are looked at while it is still claimed: another
// thread would take them away as soon as it is not.
void Node::unclaim() noexcept {
  for (;;) {
    {
      const std::lock_guard guard(lock_);
      if (!is_doomed_ || state() != State::kAvailable) {
        is_claimed_ = false;
        is_doomed_ = false;
        return;
      }
      is_doomed_ = false;
    }
    for (const Edge& edge : edges()) {
      const Node* source = edge.node_source();
      if (source != nullptr && source->state() != State::kAvailable) {
        retire(State::kUnavailable, source->cause());
        break;
      }
    }
  }
}

// --- retiring --------------------------------------------------------------

// While another thread is retiring this node, the cause may not be there yet.
Cause Node::cause() const noexcept {
  if (!is_cleared_.load(std::memory_order_acquire)) {
    return {.op = op_, .recorded = site()};
  }
  return *reinterpret_cast<const Cause*>(edge_data());
}

void Node::set_cause(const Cause& cause) noexcept {
  if (cause.op != nullptr) {
    cause.op->acquire();
  }
  ::new (static_cast<void*>(edge_data())) Cause(cause);
  is_cleared_.store(true, std::memory_order_release);
}

// Edges and residuals go; their place says why.
void Node::clear(const Cause& cause, Vertex** dying) noexcept {
  for (Edge& edge : std::span(edge_data(), input_count_)) {
    if (Node* source = edge.node_source()) {
      source->remove_use(edge);
    }
    drop_into(static_cast<Vertex*>(edge.source.leak()), dying);
  }
  const std::span kept(residual_data(), residual_count_);
  set_cause(cause);
  std::destroy(kept.begin(), kept.end());
  op_->let_go_attrs(shape_data() + shape_words_);
}

// Called for a user while its source is locked, so that it cannot end here.
void Node::doom(Vertex** retired, Vertex** dying) noexcept {
  if (!try_acquire()) {
    return;  // it is ending in another thread
  }
  {
    const std::lock_guard guard(lock_);
    if (is_claimed_) {
      is_doomed_ = true;
    } else if (state() == State::kAvailable) {
      tell(Why::kUnavailable);
      state_.store(State::kUnavailable, std::memory_order_relaxed);
      next_ = std::exchange(*retired, this);
      return;  // the reference goes when the list is emptied
    }
  }
  drop_into(this, dying);
}

void Node::doom_users(Vertex** retired, Vertex** dying) noexcept {
  const std::lock_guard guard(lock_);
  for (Edge* edge = uses_; edge != nullptr; edge = edge->next_use) {
    of(*edge).doom(retired, dying);
  }
}

void Node::retire(State state, const Cause& cause) noexcept {
  {
    const std::lock_guard guard(lock_);
    if (this->state() != State::kAvailable) {
      return;
    }
    tell(state == State::kConsumed   ? Why::kConsumed
         : state == State::kReleased ? Why::kReleased
                                     : Why::kUnavailable);
    state_.store(state, std::memory_order_relaxed);
  }
  acquire();
  next_ = nullptr;
  Vertex* retired = this;
  Vertex* dying = nullptr;
  while (retired != nullptr) {
    Node* node = static_cast<Node*>(std::exchange(retired, retired->next_));
    node->next_ = nullptr;
    node->doom_users(&retired, &dying);
    node->clear(cause, &dying);
    drop_into(node, &dying);
  }
  bury(dying);
}

void Node::consume(base::SiteId site) noexcept {
  retire(State::kConsumed, {.op = op_, .recorded = this->site(), .at = site});
}

void Node::release_early(base::SiteId site) noexcept {
  retire(State::kReleased,
         {.op = op_, .recorded = this->site(), .at = site, .is_release = true});
}

void Node::end(Vertex** dying) noexcept {
  if (!is_cleared_.load(std::memory_order_relaxed)) {
    tell(Why::kUnreferenced);
    clear({}, dying);
  }
  const memory::Block block{this, footprint(), bucket_};
  memory::Domain& domain = *domain_;
  const Op& op = *op_;
  const Op* cause_op = cause().op;
  this->~Node();
  domain.release(block);
  op.release();
  if (cause_op != nullptr) {
    cause_op->release();
  }
}

// --- observers -------------------------------------------------------------

std::string_view name_of(Why why) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {
      "consumed", "unavailable", "unreferenced", "released"};
  return kNames[static_cast<std::size_t>(why)];
}

void Node::tell(Why why) const noexcept {
  Observer* observer = tensor::thread_execution().observer;
  if (observer == nullptr) {
    return;
  }
  FreedNode freed{op_->name, site(), owner(), &domain(), sequence(), 0, why};
  for (const Residual& residual : residuals()) {
    freed.residual_bytes +=
        residual.array ? residual.array->storage()->size() : 0;
  }
  observer->freed(freed);
}

// --- release ---------------------------------------------------------------

// Stands for released nodes when there is no memory for one of their own.
Node* Node::forgotten() noexcept {
  static const Op op = [] {
    Op made;
    made.name = "(released)";
    return made;
  }();
  alignas(Node) static std::array<std::byte, kNodeHeader + sizeof(Edge)> place;
  static Node* const node = [] {
    Node* made = ::new (place.data()) Node(op, 0, {}, {});
    made->domain_ = &memory::default_domain();
    made->state_.store(State::kReleased, std::memory_order_relaxed);
    made->set_cause({.op = &op, .is_release = true});
    return made;  // its first reference is never given back
  }();
  return node;
}

base::Ref<Node> Node::create_released(base::SiteId at) const noexcept {
  try {
    return create_retired(
        *op_, site(), State::kReleased,
        {.op = op_, .recorded = site(), .at = at, .is_release = true},
        domain());
  } catch (const OutOfMemory&) {
    return base::Ref<Node>::share(forgotten());
  }
}

void release(const Tensor& t, CallSite site) {
  const base::Ref<tensor::GraphLink>& link = t.link();
  if (!link || link->is_leaf()) {
    return;
  }
  auto& node = static_cast<Node&>(*link);
  if (node.state() != State::kAvailable) {
    return;
  }
  const base::SiteId where = base::intern(site);
  if (node.has_sole_reference()) {
    node.release_early(where);
    return;
  }
  // Set from the released to the living: what goes with the old link goes here.
  const base::Ref<tensor::GraphLink> old = link;
  Tensor(t).set_link(
      base::Ref<tensor::GraphLink>::adopt(node.create_released(where).leak()),
      t.output_index());
}

}  // namespace neap::graph
