// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "reference.hpp"

namespace neap::lifetimes {
namespace {

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// One walk, with a note for every vertex there is.
class Walker {
 public:
  Walker(Model& model, const WalkRequest& request)
      : model_(model),
        request_(request),
        is_reached_(model.vertices.size()),
        is_run_(model.vertices.size()),
        is_target_(model.vertices.size()),
        cotangents_(model.vertices.size()) {}

  WalkResult run() {
    find_reached();
    find_targets();
    find_needed();
    WalkResult result;
    result.refusals = refusals();
    if (result.refusals.empty() && request_.must_use_all) {
      result.refusals = unused();
    }
    if (result.refusals.empty() && request_.is_to_leaves && !is_any_wanted()) {
      result.refusals = {"requires grad any more"};
    }
    if (!result.refusals.empty()) {
      return result;
    }
    for (std::size_t i = 0; i < request_.roots.size(); ++i) {
      cotangent(request_.roots[i]).add(request_.cotangents[i]);
    }
    for (int v = last(); v >= 0; --v) {
      pass(v);
    }
    for (const Edge& target : request_.targets) {
      result.targets.push_back(target.vertex == kNone ? Cotangent()
                                                      : cotangent(target));
    }
    settle();
    return result;
  }

 private:
  int last() const { return static_cast<int>(model_.vertices.size()) - 1; }
  Cotangent& cotangent(const Edge& place) {
    return cotangents_[at(place.vertex)][at(place.output)];
  }

  void find_reached() {
    for (const Edge& root : request_.roots) {
      is_reached_[at(root.vertex)] = true;
    }
    for (int v = last(); v >= 0; --v) {
      for (const Edge& edge : model_.vertex(v).edges) {
        if (is_reached_[at(v)] && edge.vertex != kNone) {
          is_reached_[at(edge.vertex)] = true;
        }
      }
    }
  }

  void find_targets() {
    for (const Edge& target : request_.targets) {
      if (target.vertex != kNone) {
        is_target_[at(target.vertex)][at(target.output)] = true;
      }
    }
    for (int v = 0; request_.is_to_leaves && v <= last(); ++v) {
      is_target_[at(v)][0] =
          model_.vertex(v).is_leaf && model_.vertex(v).requires_grad;
    }
  }

  bool is_wanted(const Edge& edge) const {
    return edge.vertex != kNone &&
           (is_run_[at(edge.vertex)] ||
            is_target_[at(edge.vertex)][at(edge.output)]);
  }

  // Runs what lies between the roots and the targets.
  void find_needed() {
    for (int v = 0; v <= last(); ++v) {
      const Vertex& vertex = model_.vertex(v);
      is_run_[at(v)] =
          is_reached_[at(v)] && !vertex.is_leaf &&
          (is_wanted(vertex.edges[0]) || is_wanted(vertex.edges[1]));
    }
  }

  std::vector<std::string> refusals() const {
    std::vector<std::string> all;
    for (const Edge& root : request_.roots) {
      if (model_.vertex(root.vertex).state != State::kAvailable) {
        add_retired(root.vertex, all);
      }
    }
    for (int v = 0; v <= last(); ++v) {
      if (is_run_[at(v)] && model_.vertex(v).state == State::kAvailable) {
        add_overwritten(v, all);
      }
    }
    return all;
  }

  // Every leaf may have been frozen since it was used.
  bool is_any_wanted() const {
    for (int v = 0; v <= last(); ++v) {
      if (is_reached_[at(v)] &&
          (takes_gradient(v, 0) ||
           (!model_.vertex(v).is_leaf && takes_gradient(v, 1)))) {
        return true;
      }
    }
    return false;
  }

  std::vector<std::string> unused() const {
    for (std::size_t i = 0; i < request_.targets.size(); ++i) {
      const int v = request_.targets[i].vertex;
      if (v == kNone || !is_reached_[at(v)]) {
        return {fmt::format("grad: input {} of shape", i)};
      }
    }
    return {};
  }

  std::string recorded(int v) const {
    const Vertex& vertex = model_.vertex(v);
    return fmt::format("'{}' recorded at {}", vertex.call.facts().name,
                       site_text(vertex.action));
  }

  void add_retired(int v, std::vector<std::string>& all) const {
    for (const int cause : model_.causes_of(v)) {
      const Vertex& of = model_.vertex(cause);
      const bool is_release = of.mark == State::kReleased;
      const std::string end = fmt::format(
          "{}{} {}", cause == v && !is_release ? "already " : "",
          is_release ? "released at" : "consumed by the backward at",
          site_text(of.marked_by));
      all.push_back(cause == v
                        ? fmt::format("{} was {}", recorded(v), end)
                        : fmt::format("{} cannot be differentiated: {}, which "
                                      "it was computed from, was {}",
                                      recorded(v), recorded(cause), end));
    }
  }

  void add_overwritten(int v, std::vector<std::string>& all) const {
    for (const Kept& kept : model_.vertex(v).kept) {
      const Storage& storage =
          model_.storages[at(model_.arrays[at(kept.array)].storage)];
      if (storage.version != kept.version) {
        all.push_back(fmt::format("{} needs a value that was overwritten at {}",
                                  recorded(v), site_text(storage.written_by)));
      }
    }
  }

  void pass(int v) {
    const CotangentPair& mine = cotangents_[at(v)];
    if (!is_run_[at(v)] || !(mine[0].is_defined || mine[1].is_defined)) {
      return;
    }
    const Vertex& vertex = model_.vertex(v);
    const CotangentPair given =
        pull_back(vertex.call, vertex.in, vertex.out, mine);
    for (std::size_t i = 0; i < 2; ++i) {
      if (is_wanted(vertex.edges[i])) {
        cotangent(vertex.edges[i]).add(given[i]);
      }
    }
  }

  // Consumes what was run, and gives what flowed into them to the leaves and to
  // the results that keep it. Gradients are members of no scope.
  void settle() {
    const int scope = std::exchange(model_.current_scope, kNone);
    for (int v = 0; v <= last(); ++v) {
      if (is_run_[at(v)] && !request_.retains) {
        model_.vertex(v).mark = State::kConsumed;
        model_.vertex(v).marked_by = request_.action;
      }
      for (int k = 0; request_.is_to_leaves && k < 2; ++k) {
        if (takes_gradient(v, k) && cotangents_[at(v)][at(k)].is_defined) {
          give(v, k);
        }
      }
    }
    model_.current_scope = scope;
  }

  bool takes_gradient(int v, int output) const {
    const Vertex& vertex = model_.vertex(v);
    return vertex.is_leaf ? output == 0 && vertex.requires_grad
                          : vertex.keeps_grad[at(output)];
  }

  void give(int v, int output) {
    Vertex& vertex = model_.vertex(v);
    vertex.grad_value[at(output)].add(cotangents_[at(v)][at(output)]);
    vertex.grad[at(output)] = model_.make_fresh(
        vertex.call.out[at(output)], vertex.grad_value[at(output)].value);
  }

  Model& model_;
  const WalkRequest& request_;
  std::vector<bool> is_reached_;
  std::vector<bool> is_run_;
  std::vector<std::array<bool, 2>> is_target_;
  std::vector<CotangentPair> cotangents_;
};

}  // namespace

WalkResult walk(Model& model, const WalkRequest& request) {
  return Walker(model, request).run();
}

int release(Model& model, int i, int action) {
  const int v = model.body(i).vertex;
  if (!model.is_node(i) || model.vertex(v).state != State::kAvailable) {
    return kNone;
  }
  if (model.references_to_vertex(v) == 1) {
    model.vertex(v).mark = State::kReleased;
    model.vertex(v).marked_by = action;
    return kNone;
  }
  Vertex stand_in;
  stand_in.action = model.vertex(v).action;
  stand_in.call = model.vertex(v).call;
  stand_in.mark = State::kReleased;
  stand_in.marked_by = action;
  const int place = model.add_vertex(std::move(stand_in));
  model.body(i).vertex = place;
  return place;
}

}  // namespace neap::lifetimes
