// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by print.cpp, dot.cpp and inspect.cpp.
#pragma once

#include <string>

#include "neap/graph/inspect.hpp"
#include "neap/graph/listing.hpp"

namespace neap::graph {

Standing standing_of(const Node& node) noexcept;
VertexInfo describe(const Vertex& vertex) noexcept;
/// Describes a copy of a node's residual: holders of the array beside the two
/// count as others. REQUIRES: its array is there.
ResidualInfo describe(const Residual& copy) noexcept;
GraphSize measure(const Listing& listing);
/// THROWS: TraceError where `function` looks, in a step that is traced, at a
/// result that was recorded before it: backward walks outside change it.
void check_look(const char* function, const Tensor& t);

/// "input 0", "output 1".
std::string format_position(const ResidualInfo& residual);
/// "f32 [3, 4], 48 B".
std::string format_value(const ResidualInfo& residual);
/// ", shared, parameters 'fc1.weight'", or nothing for what is held alone.
std::string format_sharing(const ResidualInfo& residual);

}  // namespace neap::graph
