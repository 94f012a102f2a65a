// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "neap/graph/recorder.hpp"

namespace neap {

/// Einstein's summation, as in NumPy and PyTorch: "bij,bjk->bik" multiplies the
/// operands, axes of one label together, and sums over the labels that the
/// result lacks. Labels are letters; spaces are skipped. A label twice in one
/// term takes the diagonal. "..." stands for any further axes of a term, which
/// broadcast from their end. Without "->" the result has the axes of "...",
/// then the labels that occur once, in alphabetical order (A to Z first). An
/// extent of 1 broadcasts. f32, f64; any number of operands; no intermediate
/// result may have more than kMaxRank axes.
///
/// Labels of one operand alone are summed first. Then the pair whose product
/// takes the fewest multiplications is contracted, the first of equals, until
/// one is left: as a (batched) matrix product, or, where nothing is summed, an
/// elementwise one.
/// THROWS: ValueError for an equation that cannot be read; ShapeError,
/// DTypeError for operands that do not fit it.
NEAP_API Tensor einsum(std::string_view equation,
                       std::initializer_list<Operand> operands);
NEAP_API Tensor einsum(std::string_view equation,
                       std::span<const Tensor> operands,
                       CallSite site = CallSite::here());

}  // namespace neap
