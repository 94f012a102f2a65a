// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The graph behind a tensor in Graphviz's language.
#pragma once

#include "neap/graph/print.hpp"

namespace neap::graph {

/// A digraph: boxes for ops, with call site, bytes of the node and of what it
/// keeps; ellipses for leaves, by owner path; arrows from a value to what was
/// computed from it. `dot -Tsvg` draws it. Ends with a node "... and 12 345
/// more" where it is cut. THROWS: OutOfMemory; UseAfterRelease when undefined.
NEAP_API std::string to_dot(const Tensor& t, const ListOptions& options = {});

}  // namespace neap::graph
