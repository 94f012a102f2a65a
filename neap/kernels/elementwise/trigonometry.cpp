// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/trigonometry.hpp"

#include <cmath>

#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/elementwise/trigonometry.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise/hyperbolic-inl.hpp"
#include "neap/kernels/elementwise/trig-inl.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

#define NEAP_ROWS "neap/kernels/elementwise/trigonometry.inc"
#include "neap/kernels/engine/row_kernels-inl.hpp"
