// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Functions that the sources of a Bert share. Used in this room alone.
#pragma once

#include "neap/models/bert.hpp"

namespace neap::models {

EncoderOptions encoder_of(const BertOptions& options);

/// A linear layer, dim to `out`, of the head for classes.
nn::Linear class_linear(const BertOptions& options, std::int64_t out,
                        const CallSite& site);

}  // namespace neap::models
