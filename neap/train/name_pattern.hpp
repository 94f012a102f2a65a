// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Patterns of names of tensors, component by component: "*" stands for any one
// component, "**" at the end for any that follow.
//
//   h.*.attn.c_attn.weight     h.0.attn.c_attn.weight, h.1.attn.c_attn.weight
//   classifier.**              all of the classifier
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/memory/containers.hpp"

namespace neap::train {

/// A name of a file that matches `from` becomes `to`, whose stars stand for
/// what those of `from` matched, in their order.
struct Rename {
  std::string from;
  std::string to;
};

NEAP_API bool matches(std::string_view name, std::string_view pattern) noexcept;
NEAP_API bool matches_any(std::string_view name,
                          std::span<const std::string> patterns) noexcept;

/// THROWS: ValueError for a pattern with an empty component or with "**" before
/// the end, and unless `to` has the stars of `from`.
NEAP_API void check(const Rename& rename);
NEAP_API void check_pattern(std::string_view pattern);

/// The name that a rename makes of this one; empty where it does not match.
/// REQUIRES: check(rename). THROWS: OutOfMemory.
NEAP_API memory::String renamed(std::string_view name, const Rename& rename);

}  // namespace neap::train
