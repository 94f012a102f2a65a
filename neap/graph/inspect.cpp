// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/inspect.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/graph/inspect_impl.hpp"
#include "neap/graph/listing.hpp"
#include "neap/graph/trace.hpp"
#include "neap/graph/versions.hpp"
#include "neap/tensor/storage_tag.hpp"

namespace neap::graph {
namespace {

// A residual and the copy of it that is looked at.
constexpr std::uint32_t kOwnReferences = 2;

Sharing sharing_of(const tensor::Array& array) noexcept {
  const tensor::Storage& storage = *array.storage();
  if (storage.is_lent()) {
    return Sharing::kLent;
  }
  return array.references() <= kOwnReferences && storage.is_unique()
             ? Sharing::kAlone
             : Sharing::kShared;
}

InputInfo info_of(const Node::Source& source) noexcept {
  InputInfo info;
  if (const Vertex* vertex = source.vertex()) {
    info.made_by = describe(*vertex);
    info.standing = vertex->is_leaf() ? Standing::kLeaf : Standing::kAvailable;
    info.output = static_cast<int>(source.output);
  }
  return info;
}

void describe_node(const Node& node, std::span<const Node::Source> sources,
                   std::span<const Residual> residuals, NodeInfo& info) {
  info.standing = standing_of(node);
  info.formula = node.op().formula;
  info.bytes = node.footprint();
  info.has_grad = node.grad(static_cast<std::uint32_t>(info.output)).defined();
  if (info.standing != Standing::kAvailable) {
    const Cause cause = node.cause();
    info.cause_op = cause.op->name;
    info.cause_recorded = cause.recorded;
    info.cause_site = cause.at;
    return;
  }
  for (const Node::Source& source : sources) {
    info.inputs.push_back(info_of(source));
  }
  for (const Residual& residual : residuals) {
    info.residuals.push_back(describe(residual));
  }
  for (const base::Ref<Node>& user : node.users()) {
    info.users.push_back(describe(*user));
  }
  std::sort(info.users.begin(), info.users.end(),
            [](const VertexInfo& a, const VertexInfo& b) {
              return a.sequence < b.sequence;
            });
}

// The arrays that copies of residuals hold, to be counted by storage.
class HeldList {
 public:
  struct Total {
    Bytes bytes = 0;  // each storage once
    Bytes alone = 0;  // of storages that nothing else holds
  };

  explicit HeldList(std::span<const Residual> residuals) {
    held_.reserve(residuals.size());
    for (const Residual& residual : residuals) {
      held_.push_back({residual.array->storage().get(), residual.array.get()});
    }
  }
  std::int64_t count() const noexcept { return std::ssize(held_); }

  Total total() noexcept {
    std::sort(held_.begin(), held_.end());
    Total total;
    for (std::span<const Held> rest = held_; !rest.empty();) {
      const auto group = first_group(rest, &Held::storage);
      const Bytes bytes = group[0].storage->size();
      total.bytes += bytes;
      total.alone += is_alone(group) ? bytes : 0;
      rest = rest.subspan(group.size());
    }
    return total;
  }

 private:
  struct Held {
    const tensor::Storage* storage;
    const tensor::Array* array;
    friend auto operator<=>(const Held&, const Held&) = default;
  };

  template <class Member>
  static std::span<const Held> first_group(std::span<const Held> list,
                                           Member member) noexcept {
    const auto end = std::find_if(list.begin(), list.end(), [&](const Held& h) {
      return h.*member != list[0].*member;
    });
    return list.first(static_cast<std::size_t>(end - list.begin()));
  }

  // True when the references of one storage, and of the arrays on it, are all
  // residuals in `group`.
  static bool is_alone(std::span<const Held> group) noexcept {
    const tensor::Storage& storage = *group[0].storage;
    std::uint32_t arrays = 0;
    while (!group.empty()) {
      const auto same = first_group(group, &Held::array);
      if (same[0].array->references() > kOwnReferences * same.size()) {
        return false;
      }
      ++arrays;
      group = group.subspan(same.size());
    }
    return storage.references() == arrays && !storage.is_lent();
  }

  memory::Vector<Held> held_;
};

}  // namespace

Standing standing_of(const Node& node) noexcept {
  switch (node.state()) {
    case State::kAvailable:
      return Standing::kAvailable;
    case State::kConsumed:
      return Standing::kConsumed;
    case State::kReleased:
      return Standing::kReleased;
    case State::kUnavailable:
      return Standing::kUnavailable;
  }
  return Standing::kUnavailable;
}

std::string_view name_of(Standing standing) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {
      "untracked", "leaf", "available", "consumed", "released", "unavailable"};
  return kNames[static_cast<std::size_t>(standing)];
}

VertexInfo describe(const Vertex& vertex) noexcept {
  VertexInfo info;
  info.owner = vertex.domain().path_of(vertex.owner());
  info.site = vertex.site();
  if (!vertex.is_leaf()) {
    const auto& node = static_cast<const Node&>(vertex);
    info.op = node.op().name;
    info.sequence = node.sequence_if_available().value_or(0);
  }
  return info;
}

ResidualInfo describe(const Residual& residual) noexcept {
  const tensor::Array& array = *residual.array;
  const tensor::Storage& storage = *array.storage();
  ResidualInfo info;
  info.is_output = (residual.position & Residual::kOutputBit) != 0;
  info.index = residual.position & ~Residual::kOutputBit;
  info.shape = array.shape();
  info.dtype = array.dtype();
  info.bytes = storage.size();
  info.sharing = sharing_of(array);
  const memory::Tag tag = tensor::tag_of(storage);
  info.category = tag.category;
  info.owner = storage.domain().path_of(tag.owner);
  info.is_stale = version_of(storage) != residual.version;
  return info;
}

// A leaf may be looked at: the questions make guards of all that is seen.
void check_look(const char* function, const Tensor& t) {
  const Trace* tracing = trace();
  if (tracing == nullptr || t.is_leaf()) {
    return;
  }
  const auto sequence =
      static_cast<const Node&>(*t.link()).sequence_if_available();
  if (!t.shared()->is_of_trace() ||
      (sequence && *sequence <= tracing->since())) {
    base::raise<TraceError>(
        "{}: the step that is traced asks about the graph of a tensor that was "
        "recorded before it, which may be another at the next call; ask "
        "outside of the step",
        function);
  }
}

NodeInfo inspect(const Tensor& t) {
  check_look("inspect", t);
  NodeInfo info;
  const base::Ref<tensor::GraphLink> link = t.link();  // held meanwhile
  const auto* vertex = static_cast<const Vertex*>(link.get());
  if (vertex == nullptr) {
    return info;
  }
  info.made_by = describe(*vertex);
  info.output = static_cast<int>(t.output_index());
  if (vertex->is_leaf()) {
    info.standing = Standing::kLeaf;
    info.bytes = static_cast<Bytes>(sizeof(Leaf));
    info.has_grad = vertex->grad(0).defined();
    return info;
  }
  const auto& node = static_cast<const Node&>(*vertex);
  memory::Vector<Node::Source> sources;
  memory::Vector<Residual> residuals;
  node.look(sources, residuals);
  describe_node(node, sources, residuals, info);
  info.residual_bytes = HeldList(residuals).total().bytes;
  return info;
}

GraphSize measure(const Tensor& t) {
  check_look("measure", t);
  return measure(Listing(t));
}

GraphSize measure(const Listing& listing) {
  GraphSize size;
  HeldList held(listing.residuals());
  for (std::size_t i = 0; i < listing.size(); ++i) {
    size.node_bytes += listing.node(i).footprint();
  }
  size.nodes = static_cast<std::int64_t>(listing.size());
  size.leaves = std::ssize(listing.leaves());
  size.node_bytes += size.leaves * static_cast<Bytes>(sizeof(Leaf));
  size.residuals = held.count();
  const HeldList::Total total = held.total();
  size.residual_bytes = total.bytes;
  size.alone_bytes = total.alone;
  return size;
}

}  // namespace neap::graph
