// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <span>

#include "gemm_problem.hpp"
#include "neap/kernels/gemm/gemm.hpp"
#include "neap/threads/pool.hpp"

namespace neap::bench {
namespace {

template <class T>
Run run_of(const Problem& p, const Operands& operands, int threads) {
  kernels::Gemm<T> x;
  x.m = p.m;
  x.n = p.n;
  x.k = p.k;
  x.a = {operands.a.as<const T>(), p.a_is_transposed ? 1 : p.k,
         p.a_is_transposed ? p.m : 1};
  x.b = {operands.b.as<const T>(), p.b_is_transposed ? 1 : p.n,
         p.b_is_transposed ? p.k : 1};
  x.c = operands.c.as<T>();
  x.precision =
      p.is_bf16 ? kernels::Precision::kBf16 : kernels::Precision::kF32;
  if (p.batch > 1) {
    x.batch = {p.batch};
    x.a_strides = {p.m * p.k};
    x.b_strides = {p.k * p.n};
  }
  threads::set_default_threads(threads);
  threads::Executor& pool = threads::default_pool();
  const auto bytes = kernels::gemm_scratch_bytes(x, threads);
  const std::shared_ptr<void> scratch(
      std::aligned_alloc(64, static_cast<std::size_t>(bytes + 64) / 64 * 64),
      std::free);
  return [x, scratch, bytes, &pool] {
    kernels::gemm(x,
                  std::span(static_cast<std::byte*>(scratch.get()),
                            static_cast<std::size_t>(bytes)),
                  pool);
  };
}

}  // namespace

Run neap_run(const Problem& x, const Operands& operands, int threads) {
  return x.is_f64 ? run_of<double>(x, operands, threads)
                  : run_of<float>(x, operands, threads);
}

}  // namespace neap::bench
