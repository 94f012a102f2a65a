// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// All comparisons.
#pragma once

#include "neap/ops/eq.hpp"  // IWYU pragma: export
#include "neap/ops/ge.hpp"  // IWYU pragma: export
#include "neap/ops/gt.hpp"  // IWYU pragma: export
#include "neap/ops/le.hpp"  // IWYU pragma: export
#include "neap/ops/lt.hpp"  // IWYU pragma: export
#include "neap/ops/ne.hpp"  // IWYU pragma: export
