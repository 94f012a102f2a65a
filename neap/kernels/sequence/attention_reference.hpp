// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// attention and attention_grad by plain loops over one row of weights, in
// double; T is float or double. In bf16, by plain loops that have the bits of
// the kernels: what they sum in which order, written out.
#pragma once

#include "neap/kernels/sequence/attention.hpp"

namespace neap::kernels {

template <class T>
void attention_reference(const Args& args) noexcept;
template <class T>
void attention_grad_reference(const Args& args) noexcept;

/// A row of weights; of the gradient in bf16, two of weights and slopes.
Bytes attention_reference_scratch(const Args& args) noexcept;
Bytes attention_grad_reference_scratch(const Args& args) noexcept;

void attention_bf16_reference(const Args& args) noexcept;
void attention_grad_bf16_reference(const Args& args) noexcept;

/// Functions of one element, as the instruction set in use computes them on
/// vectors.
struct RowMath {
  static float exp_of_score(float x) noexcept;  // of what is about 0 at most
  static float exp(float x) noexcept;
  static float log(float x) noexcept;
};

}  // namespace neap::kernels
