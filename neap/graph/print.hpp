// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The graph behind a tensor as text for people.
#pragma once

#include <string>

#include "neap/graph/inspect.hpp"

namespace neap::graph {

struct ListOptions {
  /// Limit of nodes and leaves; the rest is only counted.
  std::int64_t max_nodes = 200;
};

/// The graph below `t`, latest node first: for each its inputs by number ("-":
/// no derivative flows there), call site and bytes, and a line for each value
/// it keeps; then the leaves by owner path. A node that several need is listed
/// once. Ends with "... and 12 345 more nodes" where it is cut.
///
///   2 nodes and 1 leaf of 448 B, 1 residual of 16 B, nothing else holds 16 B
///   #1 mean <- #2  train.cpp:43 (step)  136 B
///   #2 tanh <- L1  train.cpp:42 (step)  168 B
///        keeps output 0: f32 [4], 16 B
///   L1 'fc1.weight'  train.cpp:12 (main)  144 B
///
/// THROWS: OutOfMemory; UseAfterRelease for an undefined tensor.
NEAP_API std::string print(const Tensor& t, const ListOptions& options = {});

/// The first line of print().
NEAP_API std::string format(const GraphSize& size);

}  // namespace neap::graph
