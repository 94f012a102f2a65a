// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every op of this build, from the lines of op_list.inc: NEAP_OP names the
// descriptor of a primitive, NEAP_COMPOSITE a function made of others. Tests,
// docs and benches are made from it.
#pragma once

#include <span>
#include <string_view>

#include "neap/graph/op.hpp"

namespace neap::ops {

/// In alphabetical order of the names.
NEAP_API std::span<const graph::Op* const> all_ops() noexcept;

/// The names of the composites, in alphabetical order.
NEAP_API std::span<const std::string_view> all_composites() noexcept;

}  // namespace neap::ops
