// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random projections of derivatives and what they are compared by. Differences
// are central, of fourth order, in f64. For the sources of this room only.
#pragma once

#include "neap/testing/op_run.hpp"

namespace neap::testing {

inline constexpr double kStep = 1e-3;  // of a difference

double dot(const HostArray& a, const HostArray& b);
/// Size of the sum's terms: what rounding is relative to.
double dot_scale(const HostArray& a, const HostArray& b);

/// Values with input `i` moved by t along u.
std::vector<HostArray> moved(const std::vector<HostArray>& values,
                             std::size_t i, const HostArray& u, double t);

/// d/dt of `f(t)` at 0; its error is of order kStep^4.
template <class F>
double slope(F&& f) {
  const double near = f(kStep) - f(-kStep);
  const double far = f(2 * kStep) - f(-2 * kStep);
  return (8.0 * near - far) / (12.0 * kStep);
}

void expect_number(const OpRun& run, double got, double wanted, double scale,
                   double relative, std::string_view what);

std::vector<HostArray> fetch_all(const OpRun& run,
                                 std::span<const Tensor> tensors);

/// A random direction for each differentiable input.
std::vector<Tensor> tangents_for(const OpRun& run,
                                 const std::vector<Tensor>& inputs,
                                 std::size_t seed);
/// A random cotangent of the row's result.
Tensor cotangent_of_result(const OpRun& run, std::size_t seed);

/// Nothing to difference: no derivative, or a kink.
bool is_skipped(const OpRun& run);

}  // namespace neap::testing
