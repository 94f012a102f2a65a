// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Clipping gradients, in place and strong: everything is acquired before the
// first gradient is written. Parameters without a gradient are passed over.
#pragma once

#include "neap/autograd/parameter.hpp"

namespace neap::optim {

struct ClipOptions {
  /// The answer to a norm that is not finite: throw ValueError, or leave
  /// the gradients as they are and return it.
  bool throw_if_not_finite = false;
};

/// The 2-norm of all gradients together, rank 0 in f64 on the host, summed in
/// the order of the list. When it is above `max_norm`, all are multiplied by
/// max_norm / (norm + 1e-6), as torch.nn.utils.clip_grad_norm_ does. In a
/// step that is traced, both are done in each run.
/// THROWS: ValueError unless max_norm >= 0 (and as the options say);
/// DTypeError unless f32 or f64; TraceError as trace()->write; OutOfMemory.
NEAP_API Tensor clip_grad_norm(const ParameterList& parameters, double max_norm,
                               const ClipOptions& options = {},
                               CallSite site = CallSite::here());

/// Brings every element of every gradient into [-limit, limit]; NaN stays.
/// THROWS: ValueError unless limit is finite and >= 0; DTypeError; TraceError
/// as trace()->write; OutOfMemory.
NEAP_API void clip_grad_value(const ParameterList& parameters, double limit,
                              CallSite site = CallSite::here());

}  // namespace neap::optim
