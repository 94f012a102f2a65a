// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// OpenBLAS on the same products, loaded from its own shared object, whichever
// BLAS the system prefers.
#include <dlfcn.h>
#include <stdlib.h>

#include <stdexcept>
#include <string>

#include "gemm_problem.hpp"

namespace neap::bench {
namespace {

// CBLAS's numbers.
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;

template <class T>
using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k,
                      T alpha, const T* a, int a_step, const T* b, int b_step,
                      T beta, T* c, int c_step);

// The functions of OpenBLAS that are called.
struct OpenBlas {
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  void (*set_threads)(int) = nullptr;

  OpenBlas() {
    const char* file =
        "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0";
    // Its workers look for work for 2^12 cycles, between calls, and then
    // sleep. By default they look on through the others' turns.
    setenv("OPENBLAS_THREAD_TIMEOUT", "12", 0);
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      return;  // not installed: no such column
    }
    const auto get = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(library, name));
      if (function == nullptr) {
        throw std::runtime_error(std::string("openblas has no ") + name);
      }
    };
    get(sgemm, "cblas_sgemm");
    get(dgemm, "cblas_dgemm");
    get(set_threads, "openblas_set_num_threads");
  }
};

const OpenBlas& openblas() {
  static const OpenBlas blas;
  return blas;
}

}  // namespace

Run openblas_run(const Problem& x, const Operands& operands, int threads) {
  const OpenBlas& blas = openblas();
  if (blas.sgemm == nullptr || x.is_bf16) {
    return {};
  }
  blas.set_threads(threads);
  const auto a_order = x.a_is_transposed ? kTrans : kNoTrans;
  const auto b_order = x.b_is_transposed ? kTrans : kNoTrans;
  const auto m = static_cast<int>(x.m);
  const auto n = static_cast<int>(x.n);
  const auto k = static_cast<int>(x.k);
  const int a_step = x.a_is_transposed ? m : k;
  const int b_step = x.b_is_transposed ? k : n;
  const auto run = [=, batch = x.batch](auto gemm, auto* pa, auto* pb,
                                        auto* pc) {
    for (std::int64_t i = 0; i < batch; ++i) {
      gemm(kRowMajor, a_order, b_order, m, n, k, 1, pa + i * m * k, a_step,
           pb + i * k * n, b_step, 0, pc + i * m * n, n);
    }
  };
  if (x.is_f64) {
    return [=, gemm = blas.dgemm, pa = operands.a.as<double>(),
            pb = operands.b.as<double>(),
            pc = operands.c.as<double>()] { run(gemm, pa, pb, pc); };
  }
  return [=, gemm = blas.sgemm, pa = operands.a.as<float>(),
          pb = operands.b.as<float>(),
          pc = operands.c.as<float>()] { run(gemm, pa, pb, pc); };
}

}  // namespace neap::bench
