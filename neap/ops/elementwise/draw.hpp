// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/elementwise/draw.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kDraw;

using kernels::Draw;

/// Attributes of draw: an op without inputs names its output here. The kernel
/// sees the first member.
struct DrawAttrs {
  kernels::DrawAttrs drawn;
  std::array<std::int64_t, kMaxRank> extents{};
  std::int32_t rank = 0;
  DType dtype = DType::kF32;
  std::uint8_t space = 0;
  std::uint16_t padding = 0;
};

DrawAttrs draw_attrs(Draw draw, const tensor::Spec& spec, std::int64_t low,
                     std::int64_t high, const base::DrawKey& key) noexcept;

/// A dense tensor of any space that has a runtime: what rand, randn, (from
/// `low` to below `high`) randint or randperm give for the draw `key`, to the
/// bit. THROWS: DTypeError unless f32 or f64, and for integers i32 or i64;
/// DeviceError, ShapeError, OutOfMemory.
NEAP_API Tensor drawn(Draw draw, const tensor::Spec& spec, std::int64_t low,
                      std::int64_t high, const base::DrawKey& key,
                      const CallSite& site);

}  // namespace ops

}  // namespace neap
