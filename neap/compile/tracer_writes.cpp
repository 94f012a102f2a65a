// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Writes into storages that exist, and looks at values.
#include "neap/base/raise.hpp"
#include "neap/compile/rollback.hpp"
#include "neap/compile/tracer.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/program/dataflow.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {

using base::raise;
using memory::Category;
using tensor::Layout;

namespace {

// All of a storage as one row of its tensor's elements.
Layout whole(const Tensor& tensor) {
  const std::int64_t count =
      tensor.array()->storage()->size() / size_of(tensor.dtype());
  return tensor::dense_layout(tensor.dtype(), {count});
}

// Whether the ranges of bytes from first to last element meet.
bool may_overlap(const Layout& a, const Layout& b) {
  return a.offset * size_of(a.dtype) < tensor::extent_bytes(b) &&
         b.offset * size_of(b.dtype) < tensor::extent_bytes(a);
}

}  // namespace

// A constant is the same in every run, so that what changes is a copy.
void Tracer::copy_constant(const Tensor& tensor, base::SiteId site) {
  const Operand from{values_.operand(tensor, "copy", site).value,
                     program_.keep(whole(tensor))};
  const Value constant = program_[from.value];
  Rollback rollback(program_);
  Call call = new_call(ops::kCopy.name, site);
  call.op = &ops::kCopy;
  call.kernels = ops::kCopy.kernel;
  call.space = tensor.space();
  call.inputs = program_.add({&from, 1});
  const ValueId value =
      program_.add({.spec = program_.keep(
                        {{tensor.dtype(), from.layout->shape, tensor.space()},
                         constant.spec->size,
                         constant.spec->category,
                         constant.spec->owner}),
                    .site = site,
                    .origin = Origin::kCall,
                    .index = static_cast<std::uint32_t>(program_.calls.size()),
                    .over = kNoValue});
  const Operand to{value, from.layout};
  call.outputs = program_.add({&to, 1});
  call.attrs = program_.keep_attrs(call.op, {});
  program_.add(call);
  rollback.done();
  values_.set_value(tensor, value, /*is_copy=*/true);
}

// An operand that a write reads. Kernels take an input that is exactly an
// output, and none that overlaps one otherwise: such an input is copied.
Operand Tracer::read_by(const graph::Write& write, const Tensor& input) {
  const Layout& layout = input.array()->layout();
  for (const Tensor& out : write.out) {
    if (input.is_alias_of(out) && !(layout == out.array()->layout()) &&
        may_overlap(layout, out.array()->layout())) {
      const neap::Operand operand(input);
      Tensor apart;
      emit({ops::kCopy, std::span(&operand, 1), {}, write.site},
           Category::kActivations, std::span(&apart, 1));
      return values_.operand(apart, write.name, write.site);
    }
  }
  return values_.operand(input, write.name, write.site);
}

void Tracer::write(const graph::Write& write) {
  const Inside inside(*this);
  check_context(write.name, write.site);
  if (tensor::thread_execution().recorder != this) {
    raise<TraceError>(
        "{}: at {} a write inside jvp or a rematerialised segment of a step "
        "that is traced; write outside of it",
        write.name, base::format_site(write.site));
  }
  memory::Vector<Operand> inputs;
  inputs.reserve(write.in.size());
  for (const Tensor& out : write.out) {
    handles_.on_read(out);
    values_.operand(out, write.name, write.site);
    if (values_.is_constant(out)) {
      copy_constant(out, write.site);
    }
  }
  for (const Tensor& input : write.in) {
    handles_.on_read(input);
    inputs.push_back(read_by(write, input));
  }
  Rollback rollback(program_);
  Call call = new_call(write.name, write.site);
  call.kernels = &write.list;
  call.space = write.out[0].space();
  call.inputs = program_.add(inputs);
  call.listener = write.listener;
  call.listener_index = write.index;
  call.attrs = program_.keep_attrs(nullptr, write.attrs);
  call.attrs_size = write.attrs.size();
  set_outputs(write, call);
  rollback.done();
}

// The new values, one over the other where outputs lie in one storage. All is
// there before a storage is told.
void Tracer::set_outputs(const graph::Write& write, Call& call) {
  memory::Vector<Operand> outputs;
  outputs.reserve(write.out.size());
  call.reads_outputs = write.reads_out;
  for (std::size_t k = 0; k < write.out.size(); ++k) {
    const Tensor& out = write.out[k];
    ValueId over = values_.operand(out, write.name, write.site).value;
    for (std::size_t before = 0; before < k; ++before) {
      if (out.is_alias_of(write.out[before])) {
        over = outputs[before].value;
      }
    }
    Value value = program_[over];
    value.site = write.site;
    value.origin = Origin::kCall;
    value.index = static_cast<std::uint32_t>(program_.calls.size());
    value.over = over;
    const Layout& layout = out.array()->layout();
    call.reads_outputs =
        call.reads_outputs || !is_whole(layout, value.spec->size);
    outputs.push_back({program_.add(value), program_.keep(layout)});
  }
  call.outputs = program_.add(outputs);
  program_.add(call);
  for (std::size_t k = 0; k < write.out.size(); ++k) {
    values_.set_value(write.out[k], outputs[k].value, /*is_copy=*/false);
    values_.count_write(write.out[k], write.site);
  }
}

void Tracer::check(const graph::Check& check) {
  const Inside inside(*this);
  check_context(check.op, check.site);
  memory::Vector<Operand> operands;
  operands.reserve(check.values.size());
  for (const Tensor& value : check.values) {
    handles_.on_read(value);
    operands.push_back(values_.operand(value, check.op, check.site));
  }
  Rollback rollback(program_);
  Call call = new_call(check.op, check.site);
  call.kind = CallKind::kCheck;
  call.look = check.look;
  call.inputs = program_.add(operands);
  call.attrs = program_.keep_attrs(nullptr, check.attrs);
  call.attrs_size = check.attrs.size();
  program_.add(call);
  rollback.done();
}

}  // namespace neap::compiler
