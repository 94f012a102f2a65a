// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/walk.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "neap/autograd/cotangents.hpp"
#include "neap/autograd/own_memory.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/trace.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::autograd {

using graph::Edge;
using graph::Extras;
using graph::Hook;
using graph::Node;
using graph::Vertex;
using memory::Category;

namespace {

constexpr std::size_t kFew = 8;  // sinks that are searched one by one

Vertex* vertex_of(const tensor::GraphLink* link) noexcept {
  return static_cast<Vertex*>(const_cast<tensor::GraphLink*>(link));
}

// No run of a traced step could consume a graph that is there once.
void refuse_outer(const graph::Trace& trace, const Node& node,
                  std::uint64_t floor) {
  const std::optional<std::uint64_t> sequence = node.sequence_if_available();
  if (sequence && *sequence >= floor && *sequence <= trace.since()) {
    base::raise<TraceError>(
        "backward: the step that is traced differentiates through '{}' "
        "recorded at {}, before it; record it in the step, or detach() its "
        "result",
        node.op().name, base::format_site(node.site()));
  }
}

// The earliest sequence among the targets; 0 when one of them is a leaf, since
// anything may have been made from it. A retired target cannot be reached.
std::uint64_t floor_of(std::span<const Tensor> targets) {
  std::uint64_t floor = std::numeric_limits<std::uint64_t>::max();
  for (const Tensor& target : targets) {
    const auto& link = target.link();
    if (link && link->is_leaf()) {
      return 0;
    }
    if (link) {
      const auto sequence = static_cast<Node&>(*link).sequence_if_available();
      floor = std::min(floor, sequence.value_or(floor));
    }
  }
  return floor;
}

// A derivative that is recorded reads the graph again.
Walk::Options with_graph(Walk::Options options) noexcept {
  options.retain_graph = options.retain_graph || options.create_graph;
  return options;
}

// The gradient that the hooks make of one, which they may write to.
Tensor hooked(const Extras& extras, std::uint32_t output, Tensor gradient) {
  if (!extras.has(Hook::When::kOnGrad, output)) {
    return gradient;
  }
  return extras.run_hooks(Hook::When::kOnGrad, output,
                          in_own_memory(std::move(gradient)));
}

}  // namespace

memory::OwnerId owner_here(const Vertex& vertex) noexcept {
  return &vertex.domain() == &memory::domain() ? vertex.owner()
                                               : memory::OwnerId{};
}

Walk::Walk(std::span<const Tensor> roots, const Options& options,
           base::SiteId site)
    : options_(with_graph(options)), site_(site) {
  collect(roots);
  for (Sink& sink : sinks_) {
    sink.is_target = sink.leaf().requires_grad();
  }
  check_wanted();
  spread_needs();
}

Walk::Walk(std::span<const Tensor> roots, std::span<const Tensor> targets,
           const Options& options, base::SiteId site)
    : options_(with_graph(options)),
      site_(site),
      is_aimed_(true),
      floor_(floor_of(targets)) {
  collect(roots);
  aim_at(targets);
  spread_needs();
}

void Walk::Claimed::let_go() noexcept {
  for (Step& step : steps) {
    if (step.link) {
      step.node().unclaim();
      step.link = nullptr;
    }
  }
}

// --- what is walked --------------------------------------------------------

void Walk::collect(std::span<const Tensor> roots) {
  auto& steps = claimed_.steps;
  steps.reserve(16);
  sinks_.reserve(kFew);
  for (const Tensor& root : roots) {
    visit(root.link());
  }
  // The list of steps is its own queue. Indices, since it grows.
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::span<const Edge> edges = steps[i].node().edges();
    for (const Edge& edge : edges) {
      visit(edge.source);
    }
  }
  order();
}

// Marks of nodes are never cleared: one is valid when the step it names is of
// this very node. Leaves have none, since walks of several threads may share
// them; they are looked up.
std::optional<std::uint32_t> Walk::index_of(
    const Vertex* vertex) const noexcept {
  if (vertex->is_leaf()) {
    return sink_of(vertex);
  }
  const std::uint32_t mark = static_cast<const Node*>(vertex)->mark();
  const auto& steps = claimed_.steps;
  const bool is_known = mark < steps.size() && steps[mark].link.get() == vertex;
  return is_known ? std::optional(mark) : std::nullopt;
}

std::optional<std::uint32_t> Walk::sink_of(
    const Vertex* vertex) const noexcept {
  if (sinks_.size() > kFew) {
    const auto found = sink_index_.find(vertex);
    return found != sink_index_.end() ? std::optional(found->second)
                                      : std::nullopt;
  }
  for (std::uint32_t i = 0; i < sinks_.size(); ++i) {
    if (sinks_[i].link.get() == vertex) {
      return i;
    }
  }
  return std::nullopt;
}

void Walk::visit(const base::Ref<tensor::GraphLink>& link) {
  Vertex* vertex = vertex_of(link.get());
  if (vertex == nullptr || index_of(vertex)) {
    return;
  }
  if (vertex->is_leaf()) {
    sinks_.push_back({link, {}, false});
    if (sinks_.size() > kFew) {
      for (std::size_t i = sink_index_.size(); i < sinks_.size(); ++i) {
        sink_index_.emplace(vertex_of(sinks_[i].link.get()),
                            static_cast<std::uint32_t>(i));
      }
    }
    return;
  }
  auto& steps = claimed_.steps;
  if (steps.size() == steps.capacity()) {
    steps.reserve(2 * steps.size());  // before the claim: it may fail
  }
  const auto mark = static_cast<std::uint32_t>(steps.size());
  if (const graph::Trace* trace = graph::trace()) {
    refuse_outer(*trace, static_cast<Node&>(*vertex), floor_);
  }
  if (static_cast<Node*>(vertex)->claim(mark, floor_)) {
    steps.push_back({link, 0, false});
  }
}

void Walk::order() {
  auto& steps = claimed_.steps;
  const auto is_later = [](const Step& a, const Step& b) {
    return a.node().sequence() > b.node().sequence();
  };
  if (!std::is_sorted(steps.begin(), steps.end(), is_later)) {
    std::sort(steps.begin(), steps.end(), is_later);
  }
  std::uint32_t slots = 0;
  std::uint32_t index = 0;
  for (Step& step : steps) {
    step.node().set_mark(index++);
    step.first_slot = slots;
    slots += static_cast<std::uint32_t>(step.node().outputs());
  }
  slots_.resize(slots);
  is_asked_.resize(slots);
}

// Leaves may have been frozen since they were used. Hooks, and results that
// keep their gradient, are a reason to walk all the same.
void Walk::check_wanted() const {
  const auto& steps = claimed_.steps;
  const bool any =
      std::any_of(sinks_.begin(), sinks_.end(),
                  [](const Sink& sink) { return sink.is_target; }) ||
      std::any_of(steps.begin(), steps.end(), [](const Step& step) {
        return step.node().extras() != nullptr;
      });
  if (!any) {
    base::raise<GraphError>(
        "backward: none of the {} leaves that the result was computed from "
        "requires grad any more (requires_grad_(leaf, false) since)",
        sinks_.size());
  }
}

// The place that the cotangent at an edge's source is summed in, if walked.
Walk::Place Walk::place_of(const Edge& edge) noexcept {
  const Vertex* vertex = edge.vertex();
  const auto index =
      vertex != nullptr ? index_of(vertex) : std::optional<std::uint32_t>();
  if (!index) {
    return {};
  }
  if (vertex->is_leaf()) {
    Sink& sink = sinks_[*index];
    return {&sink.cotangent, sink.is_target};
  }
  const Step& step = claimed_.steps[*index];
  const std::uint32_t slot = step.first_slot + edge.output;
  return {&slots_[slot], step.leads_to_target || is_asked_[slot] != 0};
}

// Goes from the earliest call to the latest: a step matters when an edge does.
void Walk::spread_needs() {
  auto& steps = claimed_.steps;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Node& node = step->node();
    const auto edges = node.edges();
    step->leads_to_target = std::any_of(
        edges.begin(), edges.end(),
        [this](const Edge& edge) { return place_of(edge).is_wanted; });
    if (step->leads_to_target) {
      node.check_versions();
    }
  }
}

void Walk::aim_at(std::span<const Tensor> targets) {
  targets_.reserve(targets.size());
  for (const Tensor& tensor : targets) {
    Target target;
    const Vertex* vertex = vertex_of(tensor.link().get());
    const auto index =
        vertex != nullptr ? index_of(vertex) : std::optional<std::uint32_t>();
    target.reached = index.has_value();
    if (target.reached && vertex->is_leaf()) {
      target.is_leaf = true;
      target.index = *index;
      sinks_[*index].is_target = true;
    } else if (target.reached) {
      target.index = claimed_.steps[*index].first_slot + tensor.output_index();
      is_asked_[target.index] = 1;
    }
    targets_.push_back(target);
  }
}

// --- the pass --------------------------------------------------------------

// The sum is made in the memory of a cotangent that nothing else needs.
void Walk::accumulate(Tensor& slot, Tensor cotangent) const {
  slot =
      slot.defined() ? plus(std::move(slot), cotangent) : std::move(cotangent);
}

void Walk::seed(const Tensor& root, Tensor cotangent) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = Category::kGradients; });
  const tensor::UseGradMode mode(options_.create_graph);
  Edge edge;
  edge.source = root.link();
  edge.output = root.output_index();
  if (const Place place = place_of(edge); place.slot != nullptr) {
    accumulate(*place.slot, std::move(cotangent));
  }
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
    const Place place = place_of(edges[i]);
    wanted[i] = place.is_wanted ? 1 : 0;
    sums[i] = place.is_wanted ? place.slot : nullptr;
  }
  const auto outputs = static_cast<std::size_t>(node.outputs());
  graph::VjpContext context(node, {slots_.data() + step.first_slot, outputs},
                            {is_asked_.data() + step.first_slot, outputs},
                            wanted, results, sums, options_.create_graph);
  {
    const UsePrecision as_called(Precision::kF32);  // products know their own
    node.op().vjp(context);
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (wanted[i] != 0 && results[i].defined()) {
      accumulate(*sums[i], std::move(results[i]));
    }
  }
}

// The cotangents of a node with extras are complete: its user has a look, and
// what is to be kept is staged.
void Walk::run_hooks(Step& step) {
  const Node& node = step.node();
  const base::Ref<Extras> extras = base::Ref<Extras>::share(node.extras());
  for (int k = 0; k < node.outputs(); ++k) {
    const auto output = static_cast<std::uint32_t>(k);
    Tensor& slot = slots_[step.first_slot + output];
    if (!slot.defined()) {
      continue;
    }
    slot = hooked(*extras, output, std::move(slot));
    const bool is_for_commit =
        !is_aimed_ ||
        (options_.accumulate && is_asked_[step.first_slot + output] != 0);
    if (is_for_commit && extras->keeps_grad(output)) {
      kept_.push_back({step.link, output, slot});
    }
  }
}

void Walk::run_leaf_hooks() {
  const tensor::UseGradMode guard(options_.create_graph);
  for (Sink& sink : sinks_) {
    if (sink.cotangent.defined() && sink.leaf().extras() != nullptr) {
      const auto extras = base::Ref<Extras>::share(sink.leaf().extras());
      sink.cotangent = hooked(*extras, 0, std::move(sink.cotangent));
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
    });
    const tensor::UseGradMode mode(options_.create_graph);
    if (node.extras() != nullptr) {
      run_hooks(step);
    }
    if (step.leads_to_target) {
      run_rule(step);
    }
  }
  if (!options_.retain_graph && step.leads_to_target) {
    node.consume(site_);
  }
  for (std::uint32_t k = 0; k < outputs; ++k) {
    if (is_asked_[step.first_slot + k] == 0) {
      slots_[step.first_slot + k] = Tensor();
    }
  }
}

// Steps that lead to no target are let go before the pass, to live no longer
// than its users do.
void Walk::leave_what_leads_nowhere() noexcept {
  for (Step& step : claimed_.steps) {
    Node& node = step.node();
    const auto asked = is_asked_.begin() + step.first_slot;
    const bool is_asked =
        std::any_of(asked, asked + node.outputs(),
                    [](std::uint8_t flag) { return flag != 0; });
    if (!step.leads_to_target && !is_asked && node.extras() == nullptr) {
      node.unclaim();
      step.link = nullptr;
    }
  }
}

void Walk::run() {
  auto& steps = claimed_.steps;
  leave_what_leads_nowhere();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    if (!step.link) {
      continue;
    }
    try {
      pass(step);
    } catch (...) {
      consume_rest(i);
      throw;
    }
    if (!options_.retain_graph) {
      step.node().unclaim();
      step.link = nullptr;  // later steps are all that is looked up again
    }
  }
  claimed_.let_go();
  steps.clear();
  run_leaf_hooks();
}

void Walk::consume_rest(std::size_t from) noexcept {
  if (options_.retain_graph) {
    return;
  }
  for (std::size_t i = from; i < claimed_.steps.size(); ++i) {
    const Step& step = claimed_.steps[i];
    if (step.link && step.leads_to_target) {
      step.node().consume(site_);
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

}  // namespace neap::autograd
