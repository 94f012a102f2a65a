// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/tracer.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/compile/rollback.hpp"
#include "neap/graph/record_result.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/number_check.hpp"

namespace neap::compiler {

using base::raise;
using graph::OpCall;
using memory::Category;
using tensor::Array;
using tensor::Spec;

Tracer::Tracer(base::SiteId site, bool is_state_late)
    : values_(program_, {number()}),
      generator_(kTraceSeed),
      site_(site),
      domain_(memory::domain()),
      around_(memory::Scope::innermost()),
      is_grad_enabled_(tensor::thread_execution().grad_enabled),
      is_state_late_(is_state_late) {
  program_.first_draw = generator_.key();
}

Tracer::~Tracer() {
  restore();
}

memory::Vector<Tensor> Tracer::add_arguments(const GivenArguments& given) {
  const Inside inside(*this);
  memory::Vector<Tensor> arguments;
  arguments.reserve(given.specs.size());
  arguments_.reserve(given.specs.size());
  argument_members_.reserve(given.specs.size());
  places_.reserve(given.specs.size());
  program_.outside.reserve(given.specs.size());
  program_.numbers.reserve(given.specs.size());
  for (std::size_t i = 0; i < given.specs.size(); ++i) {
    tensor::Layout layout;
    const bool has_gaps =
        i < given.tensors.size() && !given.tensors[i].is_contiguous();
    if (has_gaps) {
      layout = given.tensors[i].array()->layout();
      layout.offset = 0;
    }
    arguments.push_back(values_.add_argument(
        given.specs[i], has_gaps ? &layout : nullptr, site_));
    program_.numbers.push_back(given.is_number(i) ? 1 : 0);
    if (given.is_number(i)) {
      numbers_.add(arguments.back());
    } else {
      given_.add_argument(arguments.back(), static_cast<std::uint32_t>(i));
    }
    arguments_.push_back(arguments.back().array().get());
    argument_members_.push_back(&arguments.back().scope_member());
    places_.push_back(place_of(given, i));
    program_.outside.push_back(static_cast<std::uint8_t>(places_.back()));
    if (places_.back() != ArgumentPlace::kInside) {
      memory::detach_from_scope(arguments.back());
    }
  }
  return arguments;
}

void Tracer::run(base::FunctionRef<void()> body) {
  const tensor::ExecutionGuard guard([this](tensor::Execution& c) {
    c.recorder = this;
    c.trace = this;
    c.generator = &generator_;
  });
  const memory::HearScopes hear(this);
  const base::HearOutside hear_outside(this);
  try {
    body();
  } catch (...) {
    memory::Scope::end_those_of_trace();
    throw;
  }
  refuse_asked_key();
  if (const auto left = memory::Scope::end_those_of_trace()) {
    rethrow_failure();
    raise<TraceError>(
        "scope: the step traced at {} opens a scope at {} and leaves it open, "
        "which a run would not repeat; open it in a block of the step, or "
        "outside",
        base::format_site(site_), base::format_site(*left));
  }
}

void Tracer::restore() noexcept {
  const bool is_first = !std::exchange(is_restored_, true);
  handles_.restore();
  leaves_.restore();
  for (const Flag& flag : program_.flags) {
    if (flag.is_set != nullptr && is_first) {
      *flag.is_set = flag.value;
    }
  }
}

Program Tracer::take() {
  check_kept();
  handles_.write_to(program_, values_, leaves_, given_);
  // A handle that the step made for itself is gone; who holds it says nothing.
  // A handle object that is known says more than who else holds the body.
  for (External& external : program_.externals) {
    external.is_watched = external.is_watched && external.met.defined() &&
                          !external.met.is_one_handle();
    if (!external.is_watched) {
      external.met = Tensor();
    }
  }
  leaves_.write_to(program_, given_);
  return std::move(program_);
}

// --- op calls --------------------------------------------------------------

void Tracer::record(const OpCall& call, std::span<Tensor> outputs) {
  const Inside inside(*this);
  for (const neap::Operand& input : call.inputs) {
    handles_.on_read(input.tensor());
  }
  note_recording(call);
  if (const std::optional<DType> dtype = numbers_.dtype_for(call)) {
    record_in(*dtype, call, outputs);
    return;
  }
  emit(call, Category::kActivations, outputs);
  try {
    numbers_.add_made(call, outputs);
    graph::record_result(call, outputs);
  } catch (...) {
    std::fill(outputs.begin(), outputs.end(), Tensor());
    throw;
  }
}

// The call with the caller's numbers in a dtype that it takes them in.
void Tracer::record_in(DType dtype, const OpCall& call,
                       std::span<Tensor> outputs) {
  memory::Vector<Tensor> converted;
  memory::Vector<neap::Operand> inputs;
  converted.reserve(call.inputs.size());  // they are pointed to
  inputs.reserve(call.inputs.size());
  for (const neap::Operand& input : call.inputs) {
    converted.push_back(number_as(dtype, input.tensor(), call.site));
    inputs.emplace_back(std::as_const(converted.back()), input.site());
  }
  record({call.op, inputs, call.attrs, call.site}, outputs);
}

namespace {

// A number that integers lack is refused whenever the step runs.
void look_at_number(const char* op, std::span<const tensor::Strided> values,
                    const graph::Attrs& attrs) {
  tensor::check_number(op, *values[0].as<double>(), attrs.as<DType>());
}

}  // namespace

Tensor Tracer::number_as(DType dtype, const Tensor& tensor, base::SiteId site) {
  if (dtype == DType::kF64 || !numbers_.has(tensor)) {
    return tensor;
  }
  const Inside inside(*this);
  handles_.on_read(tensor);
  if (!is_floating(dtype)) {
    check({.op = "number of the step",
           .look = look_at_number,
           .values = std::span(&tensor, 1),
           .attrs = dtype,
           .site = site});
  }
  const neap::Operand number(tensor);
  Tensor out;
  emit({ops::kCast, {&number, 1}, ops::CastAttrs{DType::kF64, dtype}, site},
       Category::kActivations, {&out, 1});
  return out;
}

void Tracer::on_number(const Tensor& scalar) {
  numbers_.add(scalar);
}

void Tracer::check_context(std::string_view what, base::SiteId site) const {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  if (&memory::domain() != &domain_) {
    raise<TraceError>(
        "{}: at {} the step uses another memory domain than the one that its "
        "trace began in; choose the domain outside of the step",
        what, base::format_site(site));
  }
}

void Tracer::emit(const OpCall& call, Category category,
                  std::span<Tensor> outputs) {
  check_context(call.op.name, call.site);
  memory::Vector<Spec> specs;
  specs.reserve(call.inputs.size());
  for (const neap::Operand& input : call.inputs) {
    specs.push_back(input.tensor().spec());
    if (graph::Leaf* leaf = graph::leaf_of(input.tensor())) {
      leaves_.on_use(*leaf);
    }
    if (specs.back().space != specs[0].space) {
      raise<DeviceError>(
          "{}: operands lie in memory spaces {} and {}, copy one to the "
          "other's first",
          call.op.name, specs[0].space.value, specs.back().space.value);
    }
  }
  std::array<Spec, graph::kMaxOutputs> made;
  const auto out =
      std::span(made).first(static_cast<std::size_t>(call.op.outputs));
  for (Spec& spec : out) {
    spec.space = specs.empty() ? spec.space : specs[0].space;
  }
  call.op.infer({call.op.name, specs, call.attrs}, out);
  if (call.op.view != nullptr) {
    const Tensor& input = call.inputs[0].tensor();
    values_.operand(input, call.op.name, call.site);  // of this trace
    outputs[0] =
        Tensor(Array::make(input.array()->storage(),
                           call.op.view(input.array()->layout(), call.attrs)));
    return;
  }
  emit_call(call, out, category, outputs);
}

Call Tracer::new_call(std::string_view name, base::SiteId site) const noexcept {
  Call call;
  call.name = name;
  call.site = site;
  call.owner = memory::thread_context().owner;
  call.category = memory::thread_context().category;
  call.segment = segment_;
  return call;
}

void Tracer::emit_call(const OpCall& from, std::span<const Spec> specs,
                       Category category, std::span<Tensor> outputs) {
  check_draw(from);
  memory::Vector<Operand> operands;
  operands.reserve(from.inputs.size());
  for (const neap::Operand& input : from.inputs) {
    operands.push_back(
        values_.operand(input.tensor(), from.op.name, from.site));
  }
  Rollback rollback(program_);
  Call call = new_call(from.op.name, from.site);
  call.kind = from.op.transfer ? CallKind::kTransfer : CallKind::kKernel;
  call.op = &from.op;
  call.kernels = from.op.kernel;
  call.space =
      from.inputs.empty() ? specs[0].space : from.inputs[0].tensor().space();
  call.inputs = program_.add(operands);
  const memory::Tag tag = memory::current_tag(category, from.site);
  operands.clear();
  std::array<Tensor, graph::kMaxOutputs> handles;
  for (std::size_t k = 0; k < specs.size(); ++k) {
    const ValueId value = program_.add(
        {.spec = program_.keep(
             {specs[k], dense_bytes(specs[k]), tag.category, tag.owner}),
         .site = tag.site,
         .origin = Origin::kCall,
         .index = static_cast<std::uint32_t>(program_.calls.size()),
         .over = kNoValue});
    handles[k] = StandIn::make(specs[k], nullptr, tag, values_.trace(), value,
                               values_.stand_ins());
    operands.push_back({value, program_.keep(handles[k].array()->layout())});
  }
  call.outputs = program_.add(operands);
  call.attrs = program_.keep_attrs(&from.op, from.attrs);
  call.attrs_size = from.attrs.size();
  call.draw_at = from.op.facts.effect == graph::Effect::kRandom
                     ? from.op.facts.draw_at
                     : -1;
  program_.add(call);
  rollback.done();
  std::move(handles.begin(), handles.begin() + outputs.size(), outputs.begin());
}

// --- chance ----------------------------------------------------------------

void Tracer::check_draw(const OpCall& call) const {
  const graph::Facts& facts = call.op.facts;
  if (facts.effect != graph::Effect::kRandom) {
    return;
  }
  base::DrawKey key;
  const bool is_said = facts.draw_at >= 0 &&
                       static_cast<std::size_t>(facts.draw_at) + sizeof(key) <=
                           call.attrs.size();
  if (!is_said) {
    raise<TraceError>(
        "{}: at {} the op is random and its facts do not say where the key of "
        "its draw stands (draw_at)",
        call.op.name, base::format_site(call.site));
  }
  std::memcpy(&key,
              static_cast<const std::byte*>(call.attrs.data()) + facts.draw_at,
              sizeof(key));
  if (key.seed != kTraceSeed) {
    raise<TraceError>(
        "{}: at {} the draw is of a generator of its own, which a program "
        "cannot advance; draw from the one that is current outside the step",
        call.op.name, base::format_site(call.site));
  }
}

}  // namespace neap::compiler
