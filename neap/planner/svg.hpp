// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A plan as a picture: a rectangle a buffer, time to the right, memory upward.
#pragma once

#include "neap/planner/problem.hpp"

namespace neap::planner {

/// An SVG document of 1000 x 600 units. A buffer's title (shown where the
/// mouse is) says its number, lifetime, size and offset.
/// REQUIRES: one offset a buffer. THROWS: OutOfMemory.
NEAP_API memory::String to_svg(const Problem& problem,
                               const Solution& solution);

}  // namespace neap::planner
