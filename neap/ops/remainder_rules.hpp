// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The derivative rules of y = a - b round(a / b), which fmod (towards zero) and
// remainder (downwards) share: da = dy, db = -dy round(a / b).
#pragma once

#include "neap/graph/rules.hpp"

namespace neap::ops {

using Rounding = Tensor (*)(const Operand& x);

/// Reads the shape of a for the one, a and b for the other.
void remainder_vjp(graph::VjpContext& c, Rounding round);
void remainder_jvp(graph::JvpContext& c, Rounding round);

}  // namespace neap::ops
