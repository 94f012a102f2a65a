// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ten colours that stay apart for colour-blind readers, on light and dark
// ground; the page's script has the same.
#pragma once

#include <array>
#include <string_view>

#include "neap/report/snapshot_walk.hpp"

namespace neap::report {

inline constexpr std::array<std::string_view, Categories::kMost> kColours = {
    "#2f7fc1", "#e8a33d", "#2aa583", "#cf7fae", "#6cbcea",
    "#d9662b", "#d6c545", "#7a63b8", "#8c6d4f", "#8b949e"};

}  // namespace neap::report
