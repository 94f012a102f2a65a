// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Looking at the graph behind a tensor: what computed it, what that keeps, who
// needs it, and the size of the graph in nodes and bytes. print.hpp and dot.hpp
// make text of it. Looking changes nothing: references are held while it lasts,
// nothing is marked. Lists, and the bookkeeping while looking, are memory of
// the context's domain.
//
// Thread rule of all functions here and in those headers: other threads may
// build on this part of the graph, walk it and drop it meanwhile; each node is
// shown as it was at one instant, and a node that is retired before it is
// reached is left out. The tensor itself must not be changed meanwhile.
#pragma once

#include <string_view>

#include "neap/graph/node.hpp"
#include "neap/memory/containers.hpp"

namespace neap::graph {

enum class Standing : std::uint8_t {
  kUntracked,    // no derivative flows through it
  kLeaf,         // result of no recorded op; gradients accumulate there
  kAvailable,    // the result of a recorded op that a backward can run
  kConsumed,     // a backward has run it
  kReleased,     // graph::release freed its part of the graph
  kUnavailable,  // something it was computed from was consumed or released
};

/// "available", "consumed", ...
NEAP_API std::string_view name_of(Standing standing) noexcept;

/// Other holders of the bytes that a residual lies in.
enum class Sharing : std::uint8_t {
  kAlone,   // nobody: they are freed with the residual
  kShared,  // another owner: a handle, a view, or another residual
  kLent,    // memory is the user's own
};

/// A vertex of the graph, for reports.
struct VertexInfo {
  std::string_view op;     // empty for a leaf, and where there is no vertex
  std::string_view owner;  // path; LIFETIME: of the domain
  base::SiteId site{};     // line that recorded it, or made it a leaf
  /// Number of a node: larger than those of its inputs.
  std::uint64_t sequence = 0;
};

/// The origin of an op's input.
struct InputInfo {
  Standing standing = Standing::kUntracked;  // kUntracked, kLeaf or kAvailable
  VertexInfo made_by;                        // empty when untracked
  int output = 0;                            // number of its output
};

/// A value kept for the vjp.
struct ResidualInfo {
  bool is_output = false;  // output `index` of the op, else its input
  int index = 0;
  Shape shape;
  DType dtype{};
  Bytes bytes = 0;  // bytes of the storage it keeps, maybe more than it reads
  Sharing sharing = Sharing::kAlone;
  memory::Category category{};  // category of the storage: kParameters, ...
  std::string_view owner;       // path; LIFETIME: of the domain
  bool is_stale = false;        // written since: the backward will refuse
};

struct NodeInfo {
  Standing standing = Standing::kUntracked;
  VertexInfo made_by;  // empty when untracked
  std::string_view formula;
  int output = 0;  // number of the op's output that the tensor is

  Bytes bytes = 0;           // bytes of the vertex itself
  Bytes residual_bytes = 0;  // bytes; each storage counts once
  memory::Vector<InputInfo> inputs;
  memory::Vector<ResidualInfo> residuals;
  memory::Vector<VertexInfo> users;  // nodes computed from it, not handles

  /// True for a leaf's gradient and for one kept of a result.
  bool has_grad = false;

  // The cause, once consumed, released or unavailable, and where.
  std::string_view cause_op;
  base::SiteId cause_recorded{};
  base::SiteId cause_site{};  // line of the backward or release
};

/// The graph behind `t`. Users of a leaf are not known: leaves have no list
/// of them. THROWS: OutOfMemory; UseAfterRelease for an undefined tensor.
NEAP_API NodeInfo inspect(const Tensor& t);

/// The size of the graph below a tensor.
struct GraphSize {
  std::int64_t nodes = 0;
  std::int64_t leaves = 0;
  std::int64_t residuals = 0;
  Bytes node_bytes = 0;      // bytes of nodes and leaves
  Bytes residual_bytes = 0;  // bytes of storages that residuals keep, each once
  Bytes alone_bytes = 0;  // bytes among these that nothing but this graph holds

  friend bool operator==(const GraphSize&, const GraphSize&) = default;
};

/// THROWS: OutOfMemory; UseAfterRelease for an undefined tensor.
NEAP_API GraphSize measure(const Tensor& t);

}  // namespace neap::graph
