// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Measures of a model's results: the losses (functions, since they have no
// parameters: cross_entropy, mse_loss and so on) and accuracy.
#pragma once

#include "neap/ops/linalg/linear_cross_entropy.hpp"
#include "neap/ops/loss/binary_cross_entropy.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/loss/losses.hpp"

namespace neap::nn {

using neap::binary_cross_entropy;
using neap::binary_cross_entropy_with_logits;
using neap::cross_entropy;
using neap::huber_loss;
using neap::kl_div;
using neap::l1_loss;
using neap::mse_loss;
using neap::nll_loss;
using neap::smooth_l1_loss;

/// The share of rows of `logits` (n, classes) whose largest element, the first
/// of equals, is at the row's label (n): in [0, 1], NaN when n is 0. A row that
/// has a NaN counts as wrong. Host memory. THROWS: ShapeError, DTypeError
/// (floats and integers), DeviceError; TraceError or UseAfterRelease for
/// elements that are not there, and in a step that is traced.
NEAP_API double accuracy(const Tensor& logits, const Tensor& labels,
                         CallSite site = CallSite::here());

}  // namespace neap::nn
