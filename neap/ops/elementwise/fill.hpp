// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/engine/attrs.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kFill;

/// Attributes of fill: an op without inputs names its output here. The kernel
/// sees the first member.
struct FilledAttrs {
  kernels::FillAttrs fill;
  std::array<std::int64_t, kMaxRank> extents{};
  std::int32_t rank = 0;
  DType dtype = DType::kF32;
  std::uint8_t space = 0;
  std::uint16_t padding = 0;
};

FilledAttrs filled_attrs(const tensor::Spec& spec, double value) noexcept;

/// A dense tensor of any space that has a runtime, every element `value`.
/// THROWS: DeviceError, ShapeError, OutOfMemory.
NEAP_API Tensor filled(const tensor::Spec& spec, double value,
                       const CallSite& site);

}  // namespace ops

}  // namespace neap
