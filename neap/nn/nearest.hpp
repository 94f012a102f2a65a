// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The known names that are most like an unknown one: for error messages.
#pragma once

#include <span>
#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::nn {

/// Least number of characters inserted, removed or replaced that makes one of
/// the other (Levenshtein, 1966).
NEAP_API int edit_distance(std::string_view a, std::string_view b);

/// The (at most three) nearest of `names`, nearest first, earlier ones first
/// where equally near: "\"a\", \"b\"".
NEAP_API memory::String nearest_names(std::string_view wanted,
                                      std::span<const memory::String> names);

}  // namespace neap::nn
