// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tensors of constants, of given numbers and of random numbers. All are dense,
// in host memory, counted under the context's owner and category. Integer
// dtypes round a number toward zero. Every function THROWS: OutOfMemory;
// ShapeError for a negative extent or a size beyond 64 bits; ValueError for a
// Number that no double is, and for one beyond the range of an integer dtype,
// or NaN.
#pragma once

#include <initializer_list>
#include <span>

#include "neap/tensor/generator.hpp"
#include "neap/tensor/number.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap {

/// A tensor that is not initialised.
NEAP_API Tensor empty(const Shape& shape, DType dtype = f32,
                      CallSite site = CallSite::here());
NEAP_API Tensor zeros(const Shape& shape, DType dtype = f32,
                      CallSite site = CallSite::here());
NEAP_API Tensor ones(const Shape& shape, DType dtype = f32,
                     CallSite site = CallSite::here());
NEAP_API Tensor full(const Shape& shape, Number value, DType dtype = f32,
                     CallSite site = CallSite::here());
NEAP_API Tensor zeros_like(const Tensor& like,
                           CallSite site = CallSite::here());
NEAP_API Tensor ones_like(const Tensor& like, CallSite site = CallSite::here());

/// Rank 0.
NEAP_API Tensor scalar(Number value, DType dtype = f32,
                       CallSite site = CallSite::here());

/// 0, 1, ..., count - 1.
NEAP_API Tensor arange(std::int64_t count, DType dtype = f32,
                       CallSite site = CallSite::here());

/// begin, begin + step, begin + 2 step, ..., as long as it is before `end`:
/// ceil((end - begin) / step) numbers, none where begin and end are equal. Each
/// is computed in double by one product and one sum. THROWS: ValueError for a
/// step that is 0 or leads away from the end, numbers that are not finite, and
/// integers beyond 2^53.
NEAP_API Tensor arange(Number begin, Number end, Number step = 1,
                       DType dtype = f32, CallSite site = CallSite::here());

/// `count` numbers at equal distances from `begin` to `end`, which are both
/// among them, to the bit; of one number, `begin`. Computed in double from the
/// nearer end. Integers are truncated. THROWS: ValueError for ends that are not
/// finite, and integers beyond 2^53.
NEAP_API Tensor linspace(Number begin, Number end, std::int64_t count,
                         DType dtype = f32, CallSite site = CallSite::here());

/// The n x n identity matrix.
NEAP_API Tensor eye(std::int64_t n, DType dtype = f32,
                    CallSite site = CallSite::here());

/// A tensor of numbers in row-major order. THROWS: ShapeError for other counts.
NEAP_API Tensor from_values(std::span<const double> values, const Shape& shape,
                            DType dtype = f32,
                            CallSite site = CallSite::here());
NEAP_API Tensor from_values(std::initializer_list<double> values,
                            const Shape& shape, DType dtype = f32,
                            CallSite site = CallSite::here());

/// A copy of typed elements in row-major order.
template <class T>
Tensor from_span(std::span<const T> values, const Shape& shape,
                 CallSite site = CallSite::here()) {
  const std::span<const T> source = values;
  Tensor out = empty(shape, dtype_of<T>, site);
  const std::span<T> target = out.mutable_values<T>(site);
  if (target.size() != source.size()) {
    throw ShapeError("from_span: as many values as elements are needed");
  }
  std::copy(source.begin(), source.end(), target.begin());
  return out;
}

/// Uniform in [0, 1); f32 or f64. One draw of the current generator.
NEAP_API Tensor rand(const Shape& shape, DType dtype = f32,
                     CallSite site = CallSite::here());
/// Normal, mean 0 and variance 1 (Box and Muller, 1958); f32 or f64. One draw.
NEAP_API Tensor randn(const Shape& shape, DType dtype = f32,
                      CallSite site = CallSite::here());
/// Integers in [low, high); i32 or i64. One draw. THROWS: ValueError unless
/// low < high and the range fits the dtype.
NEAP_API Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
                        DType dtype = i64, CallSite site = CallSite::here());
/// 0, 1, ..., n - 1 in a random order, every order as likely as any other
/// (Durstenfeld, CACM 1964); i32 or i64. One draw. THROWS: ValueError where
/// n - 1 does not fit the dtype.
NEAP_API Tensor randperm(std::int64_t n, DType dtype = i64,
                         CallSite site = CallSite::here());

}  // namespace neap
