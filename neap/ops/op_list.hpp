// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every primitive op of this build, from the lines of op_list.inc. Tests, docs
// and benches are made from it.
#pragma once

#include <span>

#include "neap/graph/op.hpp"

namespace neap::ops {

/// In alphabetical order of the names.
NEAP_API std::span<const graph::Op* const> all_ops() noexcept;

}  // namespace neap::ops
