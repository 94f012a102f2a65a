// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/running_stats.hpp"

#include <array>

#include "neap/base/raise.hpp"
#include "neap/graph/replay.hpp"
#include "neap/graph/trace.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::ops {

using base::raise;

namespace {

constexpr const char* kName = "running_stats";

void check_buffer(std::string_view op, const char* name, const Tensor& buffer,
                  const tensor::Spec& expected) {
  const tensor::Spec spec = buffer.spec();
  if (spec.dtype != expected.dtype) {
    raise<DTypeError>("{}: {} is {}, expected {}", op, name,
                      name_of(spec.dtype), name_of(expected.dtype));
  }
  if (spec.shape != expected.shape) {
    raise<ShapeError>("{}: {} {}, expected {}", op, name,
                      format_shape(spec.shape), format_shape(expected.shape));
  }
  if (spec.space != expected.space) {
    raise<DeviceError>("{}: {} lies in memory space {}, x in {}", op, name,
                       spec.space.value, expected.space.value);
  }
  if (spec.shape.element_count() > 1 && buffer.strides()[0] == 0) {
    raise<ShapeError>("{}: {} is broadcast, write to a copy", op, name);
  }
  const auto& link = buffer.link();
  if (link && (!link->is_leaf() || link->requires_grad())) {
    raise<GraphError>(
        "{}: {} is written, and may neither require grad nor be the result of "
        "a recorded op",
        op, name);
  }
}

std::size_t count_of(const RunningStats& running) noexcept {
  return running.batches.is_given() ? 3 : 2;
}

void write_now(std::span<const Tensor> outputs, const Tensor& stats,
               const graph::Attrs& attrs, base::SiteId site) {
  std::array<tensor::Strided, 3> out;
  bool has_elements = stats.array()->storage()->has_elements();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    has_elements =
        outputs[k].array()->storage()->fetch_elements() && has_elements;
    out[k] = outputs[k].array()->strided();
  }
  const tensor::Strided in = stats.array()->strided();
  const kernels::Args args{std::span(&in, 1),
                           std::span(out).first(outputs.size()),
                           attrs.data(),
                           {},
                           &tensor::executor()};
  const kernels::Kernel& kernel =
      kernels::find(kernels::running_stats_kernels, stats.space(), f64, args);
  for (const Tensor& output : outputs) {
    output.array()->storage()->bump_version(site);
  }
  if (has_elements) {  // no rehearsal
    kernels::runtime(stats.space()).launch(kernel, args);
  }
}

}  // namespace

void check_running_stats(std::string_view op, const RunningStats& running,
                         std::int64_t channels, const Tensor& x) {
  const tensor::Spec vector{x.dtype(), {channels}, x.space()};
  check_buffer(op, "running_mean", running.mean, vector);
  check_buffer(op, "running_var", running.var, vector);
  if (running.batches.is_given()) {
    check_buffer(op, "num_batches_tracked", running.batches,
                 {i64, {}, x.space()});
  }
}

// Whatever recorder stands before the trace's does not see the write: it is
// part of no derivative.
void move_running_stats(const RunningStats& running, const Tensor& stats,
                        const kernels::RunningStatsAttrs& attrs,
                        const CallSite& site) {
  if (graph::runs_again()) {
    return;
  }
  const std::array all{running.mean, running.var, running.batches};
  const auto outputs = std::span(all).first(count_of(running));
  const base::SiteId outer = memory::thread_context().site;
  const base::SiteId where = outer.value != 0 ? outer : base::intern(site);
  const Tensor from = stats.detach();
  if (graph::Trace* trace = graph::trace()) {
    const graph::UseRecorder plain(&graph::base_recorder());
    trace->write({.name = kName,
                  .list = kernels::running_stats_kernels,
                  .in = std::span(&from, 1),
                  .out = outputs,
                  .attrs = attrs,
                  .site = where});
    return;
  }
  write_now(outputs, from, attrs, where);
}

}  // namespace neap::ops
