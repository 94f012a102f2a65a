// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// copy: y = x, elements of any one dtype. No attributes.
//   in[0]  x  (...)  any strides, broadcasts to y
//   out[0] y  (...)  any strides, dtype of x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList copy_kernels;

/// Copies x to y (same dtype; x broadcasts to y). For runtimes and tests.
NEAP_API void copy_elements(const Strided& x, const Strided& y,
                            threads::Executor& executor) noexcept;

}  // namespace neap::kernels
