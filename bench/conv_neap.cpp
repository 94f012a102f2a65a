// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <span>

#include "conv_problem.hpp"
#include "neap/threads/pool.hpp"

namespace neap::bench {
namespace {

using kernels::ConvMakes;
using kernels::Strided;

Strided dense(const Elements& elements, const Shape& shape) {
  return {reinterpret_cast<std::byte*>(elements.as<float>()), f32, shape,
          base::row_major_strides(shape)};
}

const kernels::KernelList& list_of(ConvMakes makes) {
  switch (makes) {
    case ConvMakes::kY:
      return kernels::conv2d_kernels;
    case ConvMakes::kX:
      return kernels::conv_transpose2d_kernels;
    case ConvMakes::kW:
      break;
  }
  return kernels::conv2d_weight_kernels;
}

// One call with everything that it reads.
struct Call {
  std::array<Strided, 2> in;
  std::array<Strided, 1> out;
  kernels::ConvAttrs attrs;
  std::shared_ptr<void> scratch;
  kernels::Args args;
  const kernels::Kernel* kernel = nullptr;
};

}  // namespace

Run neap_conv_run(const ConvProblem& p, const ConvOperands& operands,
                  int threads) {
  const auto call = std::make_shared<Call>();
  const std::int64_t r = p.result();
  const Strided x = dense(operands.x, {p.n, p.c, p.size, p.size});
  const Strided w =
      dense(operands.w, {p.o, p.c / p.groups, p.kernel, p.kernel});
  const Strided y = dense(operands.y, {p.n, p.o, r, r});
  call->attrs = {.stride = {p.stride, p.stride},
                 .padding = {p.padding, p.padding},
                 .x_extent = {p.size, p.size},
                 .kernel = {p.kernel, p.kernel},
                 .y_extent = {r, r},
                 .groups = p.groups,
                 .precision = p.is_bf16 ? kernels::Precision::kBf16
                                        : kernels::Precision::kF32};
  call->in = {p.makes == ConvMakes::kX ? y : x,
              p.makes == ConvMakes::kW ? y : w};
  call->out = {p.makes == ConvMakes::kY ? y : p.makes == ConvMakes::kX ? x : w};
  threads::set_default_threads(threads);
  call->args = {.in = call->in,
                .out = call->out,
                .attrs = &call->attrs,
                .scratch = {},
                .executor = &threads::default_pool()};
  call->kernel =
      &kernels::find(list_of(p.makes), memory::kHost, f32, call->args);
  const auto bytes = static_cast<std::size_t>(
      kernels::scratch_bytes(*call->kernel, call->args));
  call->scratch = {std::aligned_alloc(64, (bytes + 64) / 64 * 64), std::free};
  call->args.scratch =
      std::span(static_cast<std::byte*>(call->scratch.get()), bytes);
  return [call] { call->kernel->run(call->args); };
}

}  // namespace neap::bench
