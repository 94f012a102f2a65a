// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/custom_op.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "neap/base/raise.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::ops {

using base::raise;
using graph::Op;
using graph::OpArgs;
using graph::Spec;

// --- what goes with a call -------------------------------------------------

namespace {

struct CustomAttrs {
  CustomState* state;    // counted by the hooks below
  std::uint64_t dtypes;  // 4 bits an input, of the first 16
};

struct RandomAttrs : CustomAttrs {
  base::DrawKey draw;
};

constexpr int kDTypesKept = 16;
constexpr std::int32_t kDrawAt = sizeof(CustomAttrs);
static_assert(sizeof(RandomAttrs) == kDrawAt + sizeof(base::DrawKey));

bool is_random(const Op& op) noexcept {
  return op.facts.effect == graph::Effect::kRandom;
}

const CustomState& state_of(const graph::Attrs& attrs) noexcept {
  return *attrs.as<CustomAttrs>().state;
}

base::DrawKey draw_of(const Op& op, const graph::Attrs& attrs) noexcept {
  return is_random(op) ? attrs.as<RandomAttrs>().draw : base::DrawKey{};
}

void copy_attrs(void* to, const void* from) noexcept {
  const auto& attrs = *static_cast<const CustomAttrs*>(from);
  attrs.state->acquire();
  std::memcpy(
      to, from,
      is_random(attrs.state->op()) ? sizeof(RandomAttrs) : sizeof(CustomAttrs));
}

void drop_attrs(void* attrs) noexcept {
  static_cast<CustomAttrs*>(attrs)->state->release();
}

// --- forward: a kernel that asks the rule ----------------------------------

CustomForward forward_of(const kernels::Args& args) noexcept {
  const auto& attrs = args.attrs_as<CustomAttrs>();
  const bool draws = is_random(attrs.state->op());
  return {args, draws ? args.attrs_as<RandomAttrs>().draw : base::DrawKey{}};
}

void run(const kernels::Args& args) noexcept {
  args.attrs_as<CustomAttrs>().state->forward(forward_of(args));
}

Bytes scratch(const kernels::Args& args) noexcept {
  return args.attrs_as<CustomAttrs>().state->scratch(forward_of(args));
}

template <DType... kEvery>
constexpr std::array<kernels::Kernel, sizeof...(kEvery)> kernels_for() {
  return {kernels::Kernel{
      .name = "custom", .dtype = kEvery, .run = run, .scratch = scratch}...};
}

constexpr auto kEveryDType =
    kernels_for<f32, f64, bf16, i32, i64, u8, boolean>();
static_assert(kEveryDType.size() == kDTypeCount);
constexpr kernels::KernelList kCustomKernels{.name = "custom",
                                             .kernels = kEveryDType};

// --- the other parts of the descriptor -------------------------------------

void infer(const OpArgs& args, std::span<Spec> outputs) {
  const CustomState& state = state_of(args.attrs);
  state.shape(args.inputs, outputs);
  for (const Spec& output : outputs) {
    if (std::any_of(output.shape.begin(), output.shape.end(),
                    [](std::int64_t extent) { return extent < 0; })) {
      raise<ShapeError>("{}: its shape rule gave {}", state.name(),
                        format_shape(output.shape));
    }
  }
}

graph::Cost cost(const OpArgs& args, std::span<const Spec> outputs) {
  return state_of(args.attrs).cost(args.inputs, outputs);
}

void vjp(graph::VjpContext& context) {
  const auto attrs = context.attrs<CustomAttrs>();
  const CustomState& state = *attrs.state;
  if (!state.has_vjp()) {
    raise<GraphError>(
        "{}: its rule has no vjp, give it one or detach its operands",
        state.name());
  }
  const base::DrawKey draw = is_random(state.op())
                                 ? context.attrs<RandomAttrs>().draw
                                 : base::DrawKey{};
  CustomVjp checked(context, state, attrs.dtypes, draw);
  state.vjp(checked);
}

void jvp(graph::JvpContext& context) {
  const graph::Attrs attrs(&context.attrs<CustomAttrs>(), 0);
  const CustomState& state = state_of(attrs);
  CustomJvp checked(context, state, draw_of(state.op(), attrs));
  state.jvp(checked);
}

}  // namespace

// --- descriptor ------------------------------------------------------------

namespace {

// The name and formula follow it in its block.
class CustomDescriptor final : public graph::Op,
                               public memory::Counted<CustomDescriptor> {
 public:
  static base::Ref<CustomDescriptor> make(const CustomTraits& traits,
                                          base::SiteId site) {
    return create(
        memory::domain(), memory::current_tag(memory::Category::kGraph, site),
        static_cast<Bytes>(traits.name.size() + traits.formula.size()), traits);
  }

  using Counted::acquire;
  using Counted::release;

  explicit CustomDescriptor(const CustomTraits& traits) noexcept
      : Op{.name = {},
           .formula = {},
           .outputs = traits.outputs,
           .infer = ops::infer,
           .kernel = &kCustomKernels,
           .vjp = ops::vjp,
           .jvp = traits.has_jvp ? ops::jvp : nullptr,
           .facts = traits.facts,
           .count = count_by,
           .copy_attrs = ops::copy_attrs,
           .drop_attrs = ops::drop_attrs} {
    auto* text = reinterpret_cast<char*>(this + 1);
    name = {text, traits.name.size()};
    text = std::copy(traits.name.begin(), traits.name.end(), text);
    formula = {text, traits.formula.size()};
    std::copy(traits.formula.begin(), traits.formula.end(), text);
    for (graph::Reads& reads : facts.vjp_reads) {
      reads.shapes = ~0U;  // so that every cotangent's shape can be checked
    }
    facts.cost = traits.has_cost ? ops::cost : nullptr;
    facts.draw_at = is_random(*this) ? kDrawAt : -1;
  }

 private:
  static void count_by(const Op& op, int by) noexcept {
    auto& self =
        const_cast<CustomDescriptor&>(static_cast<const CustomDescriptor&>(op));
    if (by > 0) {
      self.Counted::acquire();
    } else {
      self.Counted::release();
    }
  }
};

}  // namespace

DescriptorRef CustomState::describe(const CustomTraits& traits,
                                    base::SiteId site) {
  if (traits.name.empty()) {
    raise<ValueError>("CustomOp: its rule has an empty name");
  }
  if (traits.outputs < 1 || traits.outputs > graph::kMaxOutputs) {
    raise<ValueError>("{}: its rule has {} outputs, expected 1 to {}",
                      traits.name, traits.outputs, graph::kMaxOutputs);
  }
  return DescriptorRef(CustomDescriptor::make(traits, site).leak());
}

// --- checked rules ---------------------------------------------------------

namespace {

void check_index_of(std::string_view name, const char* what, int i, int count) {
  if (i < 0 || i >= count) {
    raise<ValueError>("{}: its rule asks for {} {} of {}", name, what, i,
                      count);
  }
}

void check_like(std::string_view name, const char* what, int i,
                const Tensor& given, const Shape& shape, const DType* dtype) {
  if (given.shape() != shape) {
    raise<ShapeError>("{}: its rule gives {} {} the shape {}, expected {}",
                      name, what, i, format_shape(given.shape()),
                      format_shape(shape));
  }
  if (dtype != nullptr && given.dtype() != *dtype) {
    raise<DTypeError>("{}: its rule gives {} {} as {}, expected {}", name, what,
                      i, name_of(given.dtype()), name_of(*dtype));
  }
}

}  // namespace

void CustomVjp::check_index(const char* what, int i, int count) const {
  check_index_of(state_.name(), what, i, count);
}

bool CustomVjp::needs(int i) const {
  check_index("input", i, inputs());
  return context_.needs(i);
}

const Tensor& CustomVjp::cotangent(int k) const {
  check_index("output", k, state_.op().outputs);
  return context_.cotangent(k);
}

Tensor CustomVjp::take_cotangent(int k) {
  check_index("output", k, state_.op().outputs);
  return context_.take_cotangent(k);
}

namespace {

// The operands that the vjp may read, given which cotangents are wanted.
graph::Reads reads_for_wanted(const Op& op, const graph::VjpContext& context) {
  graph::Reads all;
  const auto& rules = op.facts.vjp_reads;
  for (int i = 0; i < context.inputs(); ++i) {
    if (context.needs(i)) {
      const graph::Reads& one =
          rules[std::min(static_cast<std::size_t>(i), rules.size() - 1)];
      all.inputs |= one.inputs;
      all.outputs |= one.outputs;
    }
  }
  return all;
}

void check_declared(std::string_view name, const char* rule, const char* what,
                    int i, std::uint32_t mask) {
  if ((mask >> std::min(i, 31) & 1U) == 0) {
    raise<GraphError>(
        "{}: its {} reads {} {}, which its facts do not declare for the inputs "
        "that are differentiated",
        name, rule, what, i);
  }
}

}  // namespace

Tensor CustomVjp::input(int i) const {
  check_index("input", i, inputs());
  check_declared(state_.name(), "vjp", "input", i,
                 reads_for_wanted(state_.op(), context_).inputs);
  return context_.input(i);
}

Tensor CustomVjp::output(int k) const {
  check_index("output", k, state_.op().outputs);
  check_declared(state_.name(), "vjp", "output", k,
                 reads_for_wanted(state_.op(), context_).outputs);
  return context_.output(k);
}

Shape CustomVjp::input_shape(int i) const {
  check_index("input", i, inputs());
  return context_.input_shape(i);
}

void CustomVjp::set(int i, Tensor cotangent) {
  check_index("input", i, inputs());
  const std::uint64_t bit = i < 64 ? std::uint64_t{1} << i : 0;
  if ((given_ & bit) != 0) {
    raise<ValueError>("{}: its vjp gives the cotangent of input {} twice",
                      state_.name(), i);
  }
  given_ |= bit;
  if (!context_.needs(i) || !cotangent.is_given()) {
    return;
  }
  const auto dtype =
      static_cast<DType>(dtypes_ >> (4 * std::min(i, kDTypesKept - 1)) & 15U);
  check_like(state_.name(), "the cotangent of input", i, cotangent,
             context_.input_shape(i), i < kDTypesKept ? &dtype : nullptr);
  context_.set(i, std::move(cotangent));
}

void CustomJvp::check_index(const char* what, int i, int count) const {
  check_index_of(state_.name(), what, i, count);
}

const Tensor& CustomJvp::tangent(int i) const {
  check_index("input", i, inputs());
  return context_.tangent(i);
}

const Tensor& CustomJvp::input(int i) const {
  check_index("input", i, inputs());
  const auto& rules = state_.op().facts.vjp_reads;
  std::uint32_t mask = 0;
  for (int j = 0; j < inputs(); ++j) {
    if (context_.tangent(j).defined()) {
      mask |=
          rules[std::min(static_cast<std::size_t>(j), rules.size() - 1)].inputs;
    }
  }
  check_declared(state_.name(), "jvp", "input", i, mask);
  return context_.input(i);
}

const Tensor& CustomJvp::output(int k) const {
  check_index("output", k, state_.op().outputs);
  return context_.output(k);
}

void CustomJvp::set(int k, Tensor tangent) {
  check_index("output", k, state_.op().outputs);
  if (tangent.is_given()) {
    const Spec like = context_.output(k).spec();
    check_like(state_.name(), "the tangent of output", k, tangent, like.shape,
               &like.dtype);
  }
  context_.set(k, std::move(tangent));
}

}  // namespace neap::ops

namespace neap {

using base::raise;

const ops::CustomState& CustomOp::state() const {
  if (!state_) {
    raise<UseAfterRelease>("custom op: used after it was moved from");
  }
  return *state_;
}

const graph::Op& CustomOp::op() const {
  return state().op();
}

namespace {

bool has_gaps(const Operand& operand) {
  return !operand.is_number() && !operand.tensor().is_contiguous();
}

std::uint64_t dtypes_of(std::span<const Operand> operands) {
  std::uint64_t dtypes = 0;
  const std::size_t count = std::min<std::size_t>(operands.size(), 16);
  for (std::size_t i = 0; i < count; ++i) {
    if (!operands[i].is_number()) {  // which the dispatch refuses
      dtypes |= static_cast<std::uint64_t>(operands[i].tensor().dtype())
                << (4 * i);
    }
  }
  return dtypes;
}

}  // namespace

void CustomOp::run(std::span<const Operand> operands, const CallSite& site,
                   std::span<Tensor> results) const {
  const ops::CustomState& rule = state();
  const int wanted = rule.inputs();
  if (wanted >= 0 && operands.size() != static_cast<std::size_t>(wanted)) {
    raise<ValueError>("{}: {} operands, expected {}", rule.name(),
                      operands.size(), wanted);
  }
  memory::Vector<Tensor> dense;
  memory::Vector<Operand> given;
  if (rule.is_dense() &&
      std::any_of(operands.begin(), operands.end(), has_gaps)) {
    dense.reserve(operands.size());  // operands refer to it
    for (const Operand& operand : operands) {
      if (has_gaps(operand)) {
        dense.push_back(contiguous(operand));
        given.emplace_back(std::move(dense.back()), operand.site());
      } else {
        given.push_back(operand);
      }
    }
    operands = given;
  }
  ops::RandomAttrs attrs{{state_.get(), dtypes_of(operands)}, {}};
  const graph::Op& op = rule.op();
  if (!ops::is_random(op)) {
    graph::dispatch(op, operands,
                    graph::Attrs(&attrs, sizeof(ops::CustomAttrs)), site,
                    results);
    return;
  }
  tensor::Generator& source = tensor::generator();
  attrs.draw = source.next();
  graph::dispatch(op, operands, graph::Attrs(&attrs, sizeof(attrs)), site,
                  results);
  source.advance();
}

Tensor CustomOp::call(std::span<const Operand> operands, CallSite site) const {
  if (op().outputs != 1) {
    raise<ValueError>("{}: gives {} results, call all()", op().name,
                      op().outputs);
  }
  Tensor result;
  run(operands, site, std::span(&result, 1));
  return result;
}

memory::Vector<Tensor> CustomOp::all(std::span<const Operand> operands,
                                     CallSite site) const {
  memory::Vector<Tensor> results(static_cast<std::size_t>(op().outputs));
  run(operands, site, results);
  return results;
}

}  // namespace neap
