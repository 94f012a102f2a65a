// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/walk.hpp"

#include <algorithm>
#include <array>

#include "neap/base/raise.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/contiguous.hpp"

namespace neap::autograd {

using graph::Edge;
using graph::Node;
using graph::Vertex;
using memory::Category;

namespace {

Vertex* vertex_of(const tensor::GraphLink* link) noexcept {
  return static_cast<Vertex*>(const_cast<tensor::GraphLink*>(link));
}

// Owners are numbered by domain: elsewhere than at home a vertex has none.
memory::OwnerId owner_here(const Vertex& vertex) noexcept {
  return &vertex.domain() == &memory::domain() ? vertex.owner()
                                               : memory::OwnerId{};
}

bool owns_all_of_its_storage(const Tensor& t) {
  return t.is_sole_owner() && t.is_contiguous() &&
         tensor::extent_bytes(t.array()->layout()) ==
             t.array()->storage()->size();
}

}  // namespace

Walk::Walk(std::span<const Tensor> roots, const Options& options,
           base::SiteId site)
    : options_(options), site_(site) {
  for (const Tensor& root : roots) {
    visit(root.link());
  }
  // The list of steps is its own queue. Indices, since it grows.
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const base::Ref<tensor::GraphLink> link = steps_[i].link;
    const Node& node = static_cast<const Node&>(*link);
    node.check_usable();
    for (const Edge& edge : node.edges()) {
      visit(edge.source);
    }
  }
  order();
  for (Sink& sink : sinks_) {
    sink.is_target = sink.leaf().requires_grad();
  }
  spread_needs();
}

// Marks of nodes are never cleared: one is valid when the step it names is of
// this very node. Leaves have none, since walks of several threads may share
// them; they are looked up.
std::optional<std::uint32_t> Walk::index_of(
    const Vertex* vertex) const noexcept {
  if (vertex->is_leaf()) {
    const auto found = sink_index_.find(vertex);
    return found != sink_index_.end() ? std::optional(found->second)
                                      : std::nullopt;
  }
  const std::uint32_t mark = vertex->mark();
  const bool is_known =
      mark < steps_.size() && steps_[mark].link.get() == vertex;
  return is_known ? std::optional(mark) : std::nullopt;
}

void Walk::visit(const base::Ref<tensor::GraphLink>& link) {
  Vertex* vertex = vertex_of(link.get());
  if (vertex == nullptr || index_of(vertex)) {
    return;
  }
  if (vertex->is_leaf()) {
    sinks_.push_back({link, {}, false});
    sink_index_.emplace(vertex, static_cast<std::uint32_t>(sinks_.size() - 1));
  } else {
    steps_.push_back({link, 0, false});
    vertex->set_mark(static_cast<std::uint32_t>(steps_.size() - 1));
  }
}

void Walk::order() {
  const auto is_later = [](const Step& a, const Step& b) {
    return a.node().sequence() > b.node().sequence();
  };
  if (!std::is_sorted(steps_.begin(), steps_.end(), is_later)) {
    std::sort(steps_.begin(), steps_.end(), is_later);
  }
  std::uint32_t slots = 0;
  std::uint32_t index = 0;
  for (Step& step : steps_) {
    step.node().set_mark(index++);
    step.first_slot = slots;
    slots += static_cast<std::uint32_t>(step.node().outputs());
  }
  slots_.resize(slots);
  is_target_slot_.resize(slots);
}

// Everything that an edge leads to was visited. What is not found again was
// marked by another walk over the same nodes, inside a rule of this one.
std::uint32_t Walk::locate(const Vertex* vertex) const {
  const auto index = index_of(vertex);
  if (!index) {
    base::raise<GraphError>(
        "backward: a second walk entered the same part of the graph before the "
        "first was done");
  }
  return *index;
}

bool Walk::is_wanted(const Edge& edge) const {
  const Vertex* vertex = edge.vertex();
  if (vertex == nullptr) {
    return false;
  }
  const std::uint32_t index = locate(vertex);
  if (vertex->is_leaf()) {
    return sinks_[index].is_target;
  }
  const Step& step = steps_[index];
  return step.leads_to_target ||
         is_target_slot_[step.first_slot + edge.output] != 0;
}

// From the earliest call to the latest: a step matters when an edge of it does.
void Walk::spread_needs() {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const auto edges = step->node().edges();
    step->leads_to_target =
        std::any_of(edges.begin(), edges.end(),
                    [this](const Edge& edge) { return is_wanted(edge); });
  }
}

void Walk::aim_at(std::span<const Tensor> targets) {
  for (Sink& sink : sinks_) {
    sink.is_target = false;
  }
  targets_.clear();
  targets_.reserve(targets.size());
  for (const Tensor& tensor : targets) {
    Target target;
    const Vertex* vertex = vertex_of(tensor.link().get());
    const auto index =
        vertex != nullptr ? index_of(vertex) : std::optional<std::uint32_t>();
    target.reached = index.has_value();
    if (target.reached) {
      target.is_leaf = vertex->is_leaf();
      target.index = target.is_leaf
                         ? *index
                         : steps_[*index].first_slot + tensor.output_index();
    }
    if (target.is_leaf) {
      sinks_[target.index].is_target = true;
    } else if (target.reached) {
      is_target_slot_[target.index] = 1;
    }
    targets_.push_back(target);
  }
  spread_needs();
}

Tensor& Walk::slot_of(const tensor::GraphLink* link, std::uint32_t output) {
  const Vertex* vertex = vertex_of(link);
  const std::uint32_t index = locate(vertex);
  return vertex->is_leaf() ? sinks_[index].cotangent
                           : slots_[steps_[index].first_slot + output];
}

// The sum is made in the memory of a cotangent that nothing else needs.
void Walk::accumulate(Tensor& slot, Tensor cotangent) const {
  slot =
      slot.defined() ? add(std::move(slot), cotangent) : std::move(cotangent);
}

void Walk::seed(const Tensor& root, const Tensor& cotangent) {
  const memory::ContextGuard guard([this](memory::Context& c) {
    c.category = Category::kGradients;
    c.grad_enabled = options_.create_graph;
  });
  accumulate(slot_of(root.link().get(), root.output_index()), cotangent);
}

void Walk::run_rule(Step& step) {
  constexpr std::size_t kInPlace = 4;  // inputs of most calls
  const std::size_t inputs = step.node().edges().size();
  if (inputs <= kInPlace) {
    std::array<Tensor, kInPlace> results;
    std::array<std::uint8_t, kInPlace> wanted{};
    std::array<Tensor*, kInPlace> sums{};
    run_rule(step, std::span(results).first(inputs),
             std::span(wanted).first(inputs), std::span(sums).first(inputs));
  } else {
    memory::Vector<Tensor> results(inputs);
    memory::Vector<std::uint8_t> wanted(inputs);
    memory::Vector<Tensor*> sums(inputs);
    run_rule(step, results, wanted, sums);
  }
}

void Walk::run_rule(Step& step, std::span<Tensor> results,
                    std::span<std::uint8_t> wanted, std::span<Tensor*> sums) {
  Node& node = step.node();
  const auto edges = node.edges();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    wanted[i] = is_wanted(edges[i]) ? 1 : 0;
    if (wanted[i] != 0) {
      sums[i] = &slot_of(edges[i].source.get(), edges[i].output);
    }
  }
  const auto outputs = static_cast<std::size_t>(node.outputs());
  graph::VjpContext context(node, {slots_.data() + step.first_slot, outputs},
                            {is_target_slot_.data() + step.first_slot, outputs},
                            wanted, results, sums, options_.create_graph);
  node.op().vjp(context);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (wanted[i] != 0 && results[i].defined()) {
      accumulate(*sums[i], std::move(results[i]));
    }
  }
}

void Walk::pass(Step& step) {
  Node& node = step.node();
  const auto outputs = static_cast<std::uint32_t>(node.outputs());
  const auto first = slots_.begin() + step.first_slot;
  const auto last = first + outputs;
  const bool has_cotangent = std::any_of(
      first, last, [](const Tensor& slot) { return slot.defined(); });
  if (has_cotangent) {
    const memory::ContextGuard guard([&](memory::Context& c) {
      c.owner = owner_here(node);
      c.site = node.site();
      c.category = Category::kGradients;
      c.grad_enabled = options_.create_graph;
    });
    run_rule(step);
  }
  if (!options_.retain_graph) {
    node.consume(site_);
  }
  for (std::uint32_t k = 0; k < outputs; ++k) {
    if (is_target_slot_[step.first_slot + k] == 0) {
      slots_[step.first_slot + k] = Tensor();
    }
  }
}

void Walk::run() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (!step.leads_to_target) {
      continue;
    }
    try {
      pass(step);
      if (!options_.retain_graph) {
        step.link = nullptr;  // later steps are all that is looked up again
      }
    } catch (...) {
      consume_rest(i);
      throw;
    }
  }
  steps_.clear();
}

void Walk::consume_rest(std::size_t from) noexcept {
  if (options_.retain_graph) {
    return;
  }
  for (std::size_t i = from; i < steps_.size(); ++i) {
    if (steps_[i].leads_to_target) {
      steps_[i].node().consume(site_);
    }
  }
}

Tensor Walk::take_target(std::size_t i) noexcept {
  const Target& target = targets_[i];
  if (!target.reached) {
    return {};
  }
  return target.is_leaf ? sinks_[target.index].cotangent : slots_[target.index];
}

void Walk::commit() {
  for (Sink& sink : sinks_) {
    if (!sink.is_target || !sink.cotangent.defined()) {
      continue;
    }
    const graph::Leaf& leaf = sink.leaf();
    const memory::ContextGuard guard([&](memory::Context& c) {
      c.owner = owner_here(leaf);
      c.site = site_;
      c.category = Category::kGradients;
      c.grad_enabled = options_.create_graph;
    });
    Tensor& staged = sink.cotangent;
    if (const Tensor old = leaf.grad(); old.defined()) {
      staged = add(std::move(staged), old);
    }
    // A gradient is nobody else's memory, so that it may be changed in place.
    if (!owns_all_of_its_storage(staged)) {
      staged = copy(staged);
    }
    staged.array()->storage()->retag(Category::kGradients, owner_here(leaf));
  }
  for (Sink& sink : sinks_) {
    if (sink.is_target && sink.cotangent.defined()) {
      sink.leaf().set_grad(std::move(sink.cotangent));
    }
  }
}

}  // namespace neap::autograd
