// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The matrix products that gemm_bench times, and what each contender is: a
// closure that computes one of them again and again over the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace neap::bench {

/// c (batch, m, n) = a (batch, m, k) b (batch, k, n), dense, each operand as
/// written or with its last two axes swapped in memory.
struct Problem {
  std::string group;  // rows of one group share a geometric mean
  std::string name;
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool a_is_transposed = false;
  bool b_is_transposed = false;
  bool is_f64 = false;
  bool is_bf16 = false;  // f32 whose products are computed in bf16

  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) *
           static_cast<double>(n) * static_cast<double>(k);
  }
  const char* layout() const {
    return a_is_transposed ? "tn" : b_is_transposed ? "nt" : "nn";
  }
};

/// Every row of the table.
std::vector<Problem> all_problems();

/// Elements of one matrix, on a cache line.
class Elements {
 public:
  Elements(std::int64_t count, bool is_f64);
  template <class T>
  T* as() const {
    return static_cast<T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  std::unique_ptr<void, Free> data_;
};

struct Operands {
  explicit Operands(const Problem& x)
      : a(x.batch * x.m * x.k, x.is_f64),
        b(x.batch * x.k * x.n, x.is_f64),
        c(x.batch * x.m * x.n, x.is_f64) {}
  Elements a;
  Elements b;
  Elements c;
};

using Run = std::function<void()>;

/// The contenders; an empty function where one has no such product.
/// LIFETIME: `operands` outlive what is returned.
Run neap_run(const Problem& x, const Operands& operands, int threads);
Run onednn_run(const Problem& x, const Operands& operands, int threads);
Run openblas_run(const Problem& x, const Operands& operands, int threads);

}  // namespace neap::bench
