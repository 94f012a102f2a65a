// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The name that somebody may have meant by one that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace neap::app {

/// " (did you mean NAME?)" for the name with the fewest letters to insert, to
/// drop, to change or to swap with their neighbour (Damerau, 1964), where they
/// are a third of its letters at most; else "".
std::string did_you_mean(std::string_view given,
                         std::span<const std::string> names);

}  // namespace neap::app
