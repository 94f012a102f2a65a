// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kPad;
}  // namespace ops

/// The values of the new elements, shown for x = [a b c d] padded by 2 on each
/// side.
enum class PadMode : std::uint8_t {
  kConstant,   // v v a b c d v v
  kReflect,    // c b a b c d c b  at most the extent - 1
  kReplicate,  // repeats the edge: a a a b c d d d
  kCircular,   // c d a b c d a b  at most the extent
};

/// x made longer: `pads` are pairs (before, after), as PyTorch's from the last
/// axis backwards, so that {l, r, t, b} pads images. A negative one removes
/// elements. `value` is for kConstant alone.
/// THROWS: ShapeError for more pairs than axes, an odd number, or pads that an
/// axis cannot have; DTypeError for a value that x's dtype lacks.
NEAP_API Tensor pad(const TensorOperand& x, std::span<const std::int64_t> pads,
                    PadMode mode = PadMode::kConstant, Number value = 0.0);
NEAP_API Tensor pad(const TensorOperand& x,
                    std::initializer_list<std::int64_t> pads,
                    PadMode mode = PadMode::kConstant, Number value = 0.0);

}  // namespace neap
