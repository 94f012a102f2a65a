// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A vector over all parameters, as pieces that lie in tensors, and the little
// arithmetic on it that L-BFGS needs. Sums are taken in f64 in a fixed order,
// so that the bits do not depend on threads or instruction sets. Used in this
// room alone.
#pragma once

#include "neap/memory/containers.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::optim {

/// Dense elements of a tensor in host memory; f32 or f64.
struct Piece {
  std::byte* data = nullptr;
  std::int64_t count = 0;
  DType dtype = f64;
};
/// The pieces of all parameters, in order. Those of two vectors that meet have
/// the same counts and dtypes. LIFETIME: the tensors outlive it.
using Flat = memory::Vector<Piece>;

double dot(const Flat& a, const Flat& b) noexcept;
double max_abs(const Flat& a) noexcept;
double sum_abs(const Flat& a) noexcept;
/// y = x
void copy(const Flat& x, const Flat& y) noexcept;
/// y = alpha x
void scale(double alpha, const Flat& x, const Flat& y) noexcept;
/// y = x + alpha d
void add(const Flat& x, double alpha, const Flat& d, const Flat& y) noexcept;
void fill_zero(const Flat& y) noexcept;

}  // namespace neap::optim
