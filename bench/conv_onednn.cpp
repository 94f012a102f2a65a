// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// oneDNN on the same convolutions, in the blocked layouts that it asks for; the
// time of bringing operands there is not counted. Without oneDNN's headers
// there is no such contender.
#include "conv_problem.hpp"

#ifdef NEAP_BENCH_ONEDNN
#include <dlfcn.h>

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>
#include <unordered_map>

namespace neap::bench {
namespace {

using dnnl::memory;
using kernels::ConvMakes;

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

memory::desc any(const memory::dims& extents, memory::data_type type) {
  return {extents, type, memory::format_tag::any};
}

// Zeros of bf16 are as fast as others.
memory filled(const memory::desc& desc, const dnnl::engine& engine) {
  memory made(desc, engine);
  if (desc.data_type() != memory::data_type::f32) {
    std::memset(made.get_data_handle(), 0, desc.get_size());
    return made;
  }
  auto* values = static_cast<float*>(made.get_data_handle());
  for (std::size_t i = 0; i < desc.get_size() / sizeof(float); ++i) {
    values[i] = static_cast<float>(i % 61) * 0.03F - 0.9F;
  }
  return made;
}

struct Call {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

struct Layouts {
  memory::desc x, w, y;
};

Layouts layouts_of(const ConvProblem& p) {
  const auto type_of = [&p](ConvMakes made) {  // what is made is f32 always
    return p.is_bf16 && p.makes != made ? memory::data_type::bf16
                                        : memory::data_type::f32;
  };
  const memory::desc x =
      any({p.n, p.c, p.size, p.size}, type_of(ConvMakes::kX));
  const memory::desc w =
      any(p.groups == 1 ? memory::dims{p.o, p.c, p.kernel, p.kernel}
                        : memory::dims{p.groups, p.o / p.groups, p.c / p.groups,
                                       p.kernel, p.kernel},
          type_of(ConvMakes::kW));
  const memory::desc y =
      any({p.n, p.o, p.result(), p.result()}, type_of(ConvMakes::kY));
  return {x, w, y};
}

// Layout of a factor of the forward call that a gradient is computed from.
memory::desc as_factor(const ConvProblem& p, memory::desc of) {
  of.data.data_type = p.is_bf16 ? dnnl_bf16 : dnnl_f32;
  return of;
}

}  // namespace

Run onednn_conv_run(const ConvProblem& p, int threads) {
  set_openmp_threads(threads);
  const auto call = std::make_shared<Call>();
  const auto [x, w, y] = layouts_of(p);
  const memory::dims strides{p.stride, p.stride};
  const memory::dims padding{p.padding, p.padding};
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const dnnl::engine& engine = call->engine;
  const dnnl::convolution_forward::primitive_desc forward(
      dnnl::convolution_forward::desc(
          dnnl::prop_kind::forward_training, kDirect, as_factor(p, x),
          as_factor(p, w), p.makes == ConvMakes::kY ? y : as_factor(p, y),
          strides, padding, padding),
      engine);
  if (p.makes == ConvMakes::kY) {
    call->primitive = dnnl::convolution_forward(forward);
    call->arguments = {
        {DNNL_ARG_SRC, filled(forward.src_desc(), engine)},
        {DNNL_ARG_WEIGHTS, filled(forward.weights_desc(), engine)},
        {DNNL_ARG_DST, filled(forward.dst_desc(), engine)}};
  } else if (p.makes == ConvMakes::kX) {
    const dnnl::convolution_backward_data::primitive_desc data(
        dnnl::convolution_backward_data::desc(kDirect, x, w, y, strides,
                                              padding, padding),
        engine, forward);
    call->primitive = dnnl::convolution_backward_data(data);
    call->arguments = {
        {DNNL_ARG_DIFF_SRC, filled(data.diff_src_desc(), engine)},
        {DNNL_ARG_WEIGHTS, filled(data.weights_desc(), engine)},
        {DNNL_ARG_DIFF_DST, filled(data.diff_dst_desc(), engine)}};
  } else {
    const dnnl::convolution_backward_weights::primitive_desc weights(
        dnnl::convolution_backward_weights::desc(kDirect, x, w, y, strides,
                                                 padding, padding),
        engine, forward);
    call->primitive = dnnl::convolution_backward_weights(weights);
    call->arguments = {
        {DNNL_ARG_SRC, filled(weights.src_desc(), engine)},
        {DNNL_ARG_DIFF_WEIGHTS, filled(weights.diff_weights_desc(), engine)},
        {DNNL_ARG_DIFF_DST, filled(weights.diff_dst_desc(), engine)}};
  }
  return [call] {
    call->primitive.execute(call->stream, call->arguments);
    call->stream.wait();
  };
}

}  // namespace neap::bench

#else

namespace neap::bench {

Run onednn_conv_run(const ConvProblem& /* p */, int /* threads */) {
  return {};
}

}  // namespace neap::bench

#endif  // NEAP_BENCH_ONEDNN
