// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the ops of linear algebra. For sources of ops only.
#pragma once

#include "neap/ops/support.hpp"

namespace neap::ops {

/// A shape without its last two axes.
Shape batch_of(const Shape& shape);

/// THROWS: DTypeError unless f32 or f64; ShapeError unless (..., n, n).
void check_square(std::string_view op, const Spec& a);
/// The shape of x with a x = b, for a (..., n, n) and b (..., n, k); the
/// leading axes broadcast. THROWS: ShapeError, DTypeError.
void infer_solve(const OpArgs& args, std::span<Spec> out);

/// Refuses results of matrices that cannot be factored, for which kernels give
/// NaN everywhere. THROWS: ValueError that names the first such matrix of
/// `result` (..., n, k), and says that it `is` so, where `result` lies in host
/// memory.
void check_factored(const char* op, const Tensor& result, const char* is);

}  // namespace neap::ops
