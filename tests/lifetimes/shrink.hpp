// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Cuts a failing program down: actions are taken out, in runs of halving
// lengths, as long as what is left still fails; then thread hops.
#pragma once

#include <functional>

#include "program.hpp"

namespace neap::lifetimes {

Program shrink(Program program,
               const std::function<bool(const Program&)>& fails);

}  // namespace neap::lifetimes
