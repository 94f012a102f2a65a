// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/problem.hpp"

namespace neap::planner {}  // namespace neap::planner
