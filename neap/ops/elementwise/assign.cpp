// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/assign.hpp"

#include <optional>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/graph/into.hpp"
#include "neap/graph/trace.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/fill.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/host_access.hpp"
#include "neap/tensor/number_check.hpp"

namespace neap {
namespace {

using base::raise;
using tensor::Strided;

void check_untracked(std::string_view op, const char* instead,
                     const Tensor& dst) {
  const auto& link = dst.link();
  if (link && !link->is_leaf()) {
    raise<GraphError>(
        "{}: the tensor is the result of a recorded op, use {} instead", op,
        instead);
  }
  const tensor::Execution& execution = tensor::thread_execution();
  if (link && link->requires_grad() && execution.grad_enabled) {
    raise<GraphError>(
        "{}: the tensor is a leaf that requires grad, write under NoGrad or "
        "use {} instead",
        op, instead);
  }
  // A trace records the write; whatever else records ops could not.
  const bool is_traced =
      execution.trace != nullptr &&
      dynamic_cast<graph::Trace*>(execution.recorder) == execution.trace;
  if (execution.recorder != nullptr && !is_traced) {
    raise<GraphError>(
        "{}: inside jvp or a rematerialised segment, use {} "
        "instead",
        op, instead);
  }
}

// THROWS: ShapeError when several elements of `dst` are one in memory.
void check_distinct(std::string_view op, const Tensor& dst) {
  for (int axis = 0; axis < dst.rank(); ++axis) {
    if (dst.shape()[axis] > 1 && dst.strides()[axis] == 0) {
      raise<ShapeError>("{}: axis {} of {} is broadcast, write to a copy", op,
                        axis, format_shape(dst.shape()));
    }
  }
}

// Where all of its elements are written, those that are away are not fetched.
std::optional<tensor::Overwrite> overwrite_of(std::string_view op,
                                              const Tensor& dst,
                                              base::SiteId site) {
  tensor::Storage& storage = *dst.array()->storage();
  if (storage.absence() == tensor::Absence::kAway && tensor::is_whole(dst)) {
    return std::optional<tensor::Overwrite>(std::in_place, storage);
  }
  if (!storage.fetch_elements() &&
      storage.absence() != tensor::Absence::kRehearsed) {
    tensor::refuse_elements(storage, op, site);
  }
  return std::nullopt;
}

// Everything that can fail comes before the write. The kernels used here need
// no scratch.
void run_over(std::string_view op, const kernels::KernelList& list,
              std::span<const Tensor> in, const graph::Attrs& attrs,
              const Tensor& dst, const CallSite& site) {
  const memory::Context& context = memory::thread_context();
  const base::SiteId where =
      context.site.value != 0 ? context.site : base::intern(site);
  if (graph::Trace* trace = graph::trace()) {
    trace->write({.name = op,
                  .list = list,
                  .in = in,
                  .out = std::span(&dst, 1),
                  .attrs = attrs,
                  .reads_out = false,
                  .site = where});
    return;
  }
  std::optional<tensor::Overwrite> whole = overwrite_of(op, dst, where);
  tensor::Storage& storage = *dst.array()->storage();
  const bool is_rehearsed = storage.absence() == tensor::Absence::kRehearsed;
  Strided from;
  if (!in.empty()) {
    tensor::Storage& source = *in[0].array()->storage();
    if (!is_rehearsed && !source.fetch_elements()) {
      tensor::refuse_elements(source, op, where);
    }
    from = in[0].array()->strided();
  }
  Strided out = dst.array()->strided();
  const kernels::Args args{std::span(&from, in.size()),
                           std::span(&out, 1),
                           attrs.data(),
                           {},
                           &tensor::executor()};
  const kernels::Kernel& kernel =
      kernels::find(list, dst.space(), dst.dtype(), args);
  if (whole) {
    whole->begin();
    out = dst.array()->strided();
  }
  storage.bump_version(where);
  if (!is_rehearsed) {
    kernels::runtime(dst.space()).launch(kernel, args);
  }
}

}  // namespace

void copy_(const Tensor& dst, const Tensor& given, CallSite site) {
  check_untracked("copy_", "where() or a new tensor", dst);
  check_distinct("copy_", dst);
  graph::Trace* trace = graph::trace();
  Tensor converted;
  if (trace != nullptr) {
    converted = trace->number_as(dst.dtype(), given, base::intern(site));
  }
  const Tensor& src = trace != nullptr ? converted : given;
  if (src.dtype() != dst.dtype()) {
    raise<DTypeError>("copy_: {} into {}, cast the source first",
                      name_of(src.dtype()), name_of(dst.dtype()));
  }
  if (src.space() != dst.space()) {
    raise<DeviceError>("copy_: from space {} into {}, copy with to() first",
                       src.space().value, dst.space().value);
  }
  if (!base::broadcasts_to(src.shape(), dst.shape())) {
    raise<ShapeError>("copy_: shape {} does not broadcast to {}",
                      format_shape(src.shape()), format_shape(dst.shape()));
  }
  const NoGrad guard;
  const Tensor from = src.array()->storage() == dst.array()->storage()
                          ? copy({src, site})
                          : src;
  run_over("copy_", kernels::copy_kernels, std::span(&from, 1), {}, dst, site);
}

void fill_(const Tensor& dst, Number value, CallSite site) {
  check_untracked("fill_", "full() or where()", dst);
  check_distinct("fill_", dst);
  tensor::check_number("fill_", value.value(), dst.dtype());
  const kernels::FillAttrs attrs{value.value()};
  run_over("fill_", kernels::fill_kernels, {}, attrs, dst, site);
}

void compute_into(const Tensor& dst, const graph::Op& op,
                  std::initializer_list<Operand> inputs,
                  const graph::Attrs& attrs) {
  check_untracked("compute_into", "the op's result", dst);
  CallSite site;
  for (const Operand& input : inputs) {
    if (input.is_number()) {
      raise<ValueError>("compute_into: a plain number for '{}', make a tensor",
                        op.name);
    }
    site = input.site();
  }
  const base::SiteId outer = memory::thread_context().site;
  graph::run_into({op, std::span(inputs.begin(), inputs.size()), attrs,
                   outer.value != 0 ? outer : base::intern(site)},
                  dst);
}

namespace {

void compute_over(const graph::Op& op, const Tensor& dst,
                  const Operand& other) {
  const ops::Operands both(op.name, {dst, other.site()}, other);
  compute_into(dst, op, {both.a(), both.b()});
}

}  // namespace

void add_(const Tensor& dst, const Operand& other) {
  compute_over(ops::kAdd, dst, other);
}

void sub_(const Tensor& dst, const Operand& other) {
  compute_over(ops::kSub, dst, other);
}

void mul_(const Tensor& dst, const Operand& other) {
  compute_over(ops::kMul, dst, other);
}

void div_(const Tensor& dst, const Operand& other) {
  compute_over(ops::kDiv, dst, other);
}

}  // namespace neap
