// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// pack: y is the elements of x where the mask is true, in row-major order.
//   in[0] x (...), in[1] mask (...) bool, out[0] y (n)
// unpack: y is fill where the mask is false; where it is true, the elements of
// values, one after the other.
//   in[0] values (n), in[1] mask (...) bool, in[2] fill (...), out[0] y (...)
// Any dtype, any strides; in[2] broadcasts to y. No attributes.
// REQUIRES: n is how many elements of the mask are true (else what is too much
// is left out).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList pack_kernels;
extern const KernelList unpack_kernels;

/// How many elements of a mask are true.
NEAP_API std::int64_t count_true(const Strided& mask,
                                 threads::Executor& executor) noexcept;

}  // namespace neap::kernels
