// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// oneDNN on the same products. The primitive is made once, only its execution
// is timed. Without oneDNN's headers there is no such contender.
#include "gemm_problem.hpp"

#ifdef NEAP_BENCH_ONEDNN
#include <dlfcn.h>

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>
#include <unordered_map>

namespace neap::bench {
namespace {

using dnnl::memory;

memory::desc matrix(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                    bool is_transposed,
                    memory::data_type type = memory::data_type::f32) {
  const std::int64_t row_step = is_transposed ? 1 : columns;
  const std::int64_t column_step = is_transposed ? rows : 1;
  if (batch == 1) {
    return {memory::dims{rows, columns}, type,
            memory::dims{row_step, column_step}};
  }
  return {memory::dims{batch, rows, columns}, type,
          memory::dims{rows * columns, row_step, column_step}};
}

// oneDNN's threads are those of the OpenMP that it is linked with.
void set_openmp_threads(int threads) {
  using Set = void (*)(int);
  const auto set =
      reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set == nullptr) {
    throw std::runtime_error("no OpenMP in this process");
  }
  set(threads);
}

// The elements where they are, or in bf16 some of their own: zeros are as fast
// as others.
memory factors(const memory::desc& desc, const dnnl::engine& engine,
               const Elements& elements) {
  if (desc.data_type() == memory::data_type::f32) {
    return {desc, engine, elements.as<void>()};
  }
  memory own(desc, engine);
  std::memset(own.get_data_handle(), 0, desc.get_size());
  return own;
}

}  // namespace

Run onednn_run(const Problem& x, const Operands& operands, int threads) {
  if (x.is_f64) {
    return {};
  }
  set_openmp_threads(threads);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const auto type =
      x.is_bf16 ? memory::data_type::bf16 : memory::data_type::f32;
  const auto a = matrix(x.batch, x.m, x.k, x.a_is_transposed, type);
  const auto b = matrix(x.batch, x.k, x.n, x.b_is_transposed, type);
  const auto c = matrix(x.batch, x.m, x.n, false);
  const dnnl::matmul product(
      dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), engine));
  const dnnl::stream stream(engine);
  const std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, factors(a, engine, operands.a)},
      {DNNL_ARG_WEIGHTS, factors(b, engine, operands.b)},
      {DNNL_ARG_DST, memory(c, engine, operands.c.as<void>())}};
  return [=] {
    product.execute(stream, arguments);
    dnnl::stream(stream).wait();
  };
}

}  // namespace neap::bench

#else

namespace neap::bench {

Run onednn_run(const Problem& /* x */, const Operands& /* operands */,
               int /* threads */) {
  return {};
}

}  // namespace neap::bench

#endif  // NEAP_BENCH_ONEDNN
