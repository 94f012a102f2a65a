// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The algorithms of a convolution that are compiled where lanes can be masked
// for nothing (AVX-512) alone: vectorised over pixels (conv_direct.hpp), for
// few channels (conv_few.hpp), and channel by channel (conv_depthwise.hpp).
// Each plans its tasks from the number of lanes; one driver runs the tasks of
// all three.
#pragma once

#include <span>

#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/conv/conv_plan.hpp"

namespace neap::kernels {

enum class ConvWay { kDirect, kFew, kDepthwise };

/// Whether a call is for this way on this processor. T is float or double.
template <class T, ConvWay kWay>
bool conv_takes_way(const Conv& conv, ConvMakes makes) noexcept;
template <class T, ConvWay kWay>
void conv_by_way(const Conv& conv, ConvMakes makes,
                 std::span<std::byte> scratch,
                 threads::Executor& executor) noexcept;
template <class T, ConvWay kWay>
Bytes conv_way_scratch(const Conv& conv, ConvMakes makes, int threads) noexcept;

}  // namespace neap::kernels
