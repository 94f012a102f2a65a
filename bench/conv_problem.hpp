// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The convolutions that conv_bench times, and what each contender is: a closure
// that computes one of them again and again over the same memory.
#pragma once

#include <string>
#include <vector>

#include "gemm_problem.hpp"
#include "neap/kernels/conv/conv.hpp"

namespace neap::bench {

/// x (n, c, size, size) to o channels by a square kernel.
struct ConvProblem {
  std::string group;  // rows of one group share a geometric mean
  std::int64_t n = 0;
  std::int64_t c = 0;
  std::int64_t o = 0;
  std::int64_t size = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 1;
  std::int64_t groups = 1;
  kernels::ConvMakes makes = kernels::ConvMakes::kY;
  bool is_bf16 = false;  // f32 whose products are computed in bf16

  std::int64_t result() const {
    return (size + 2 * padding - kernel) / stride + 1;
  }
  std::int64_t x_count() const { return n * c * size * size; }
  std::int64_t w_count() const { return o * c / groups * kernel * kernel; }
  std::int64_t y_count() const { return n * o * result() * result(); }
  double flops() const {
    return 2.0 * static_cast<double>(y_count() * c / groups * kernel * kernel);
  }
  /// Whether its sums are in bf16 where that is asked for (kernels/conv.hpp).
  bool has_pairs() const {
    return (c != groups || o != groups) &&
           (makes == kernels::ConvMakes::kY   ? c / groups
            : makes == kernels::ConvMakes::kX ? o / groups
                                              : n) > 1;
  }
  std::string name() const;
};

/// Every row of the table.
std::vector<ConvProblem> all_conv_problems();

struct ConvOperands {
  explicit ConvOperands(const ConvProblem& p)
      : x(p.x_count(), false), w(p.w_count(), false), y(p.y_count(), false) {}
  Elements x;
  Elements w;
  Elements y;
};

/// The contenders; an empty function where one is not there. oneDNN has
/// operands of its own, in the layouts that it likes best.
/// LIFETIME: `operands` outlive what is returned.
Run neap_conv_run(const ConvProblem& p, const ConvOperands& operands,
                  int threads);
Run onednn_conv_run(const ConvProblem& p, int threads);

}  // namespace neap::bench
