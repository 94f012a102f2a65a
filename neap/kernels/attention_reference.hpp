// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// attention and attention_grad by plain loops over one row of weights, in
// double; T is float or double.
#pragma once

#include "neap/kernels/attention.hpp"

namespace neap::kernels {

template <class T>
void attention_reference(const Args& args) noexcept;
template <class T>
void attention_grad_reference(const Args& args) noexcept;

/// Of attention: one row of weights.
Bytes attention_reference_scratch(const Args& args) noexcept;

}  // namespace neap::kernels
