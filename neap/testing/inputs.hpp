// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How the harness makes tensors: values from Philox, and layouts that hold the
// same values in different places. Gaps are filled with NaN (or a large whole
// number), so that reading one shows.
#pragma once

#include "neap/testing/op_table.hpp"

namespace neap::testing {

enum class LayoutKind {
  kContiguous,
  kTransposed,  // axes stored in reverse order
  kSliced,      // every second element of every axis, at an offset
  kExpanded,    // stride 0 along one axis
  kMixed,       // contiguous and transposed inputs in turn
};

const char* name_of(LayoutKind kind) noexcept;

/// Values of input `index` of a row.
HostArray make_values(const InputSpec& spec, std::uint64_t seed,
                      std::size_t index);

/// In [-1, 1), exact in f32: a direction or a cotangent.
HostArray make_direction(const Shape& shape, std::uint64_t seed,
                         std::size_t index);

/// The values that a tensor of stride 0 along its longest axis can hold: those
/// at the axis's start, repeated.
HostArray constant_along_longest(const HostArray& array);

/// A tensor of these values on host memory, as input `index` of its row.
/// REQUIRES: for kExpanded, values as constant_along_longest makes.
Tensor make_tensor(const HostArray& array, DType dtype,
                   LayoutKind kind = LayoutKind::kContiguous,
                   std::size_t index = 0);

}  // namespace neap::testing
