// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/guards.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

using What = BrokenGuard::What;

const graph::Leaf& leaf_of(const base::Ref<tensor::GraphLink>& link) noexcept {
  return static_cast<const graph::Leaf&>(*link);
}

// Whether the handle means these elements at this place of the graph. Null: it
// should be undefined.
bool means(const Tensor* handle, const tensor::Array* array,
           const base::Ref<tensor::GraphLink>& link) noexcept {
  if (handle == nullptr) {
    return false;
  }
  const base::Ref<tensor::Body>& body = handle->shared();
  if (!body || !body->array()) {
    return array == nullptr;
  }
  const tensor::Array* now = body->array().get();
  return array != nullptr && body->link() == link &&
         (now == array ||
          (now->storage() == array->storage() &&
           now->layout() == array->layout() && !now->has_tangents()));
}

bool is_on(const Tensor* handle, const tensor::Array& array) noexcept {
  const base::Ref<tensor::Body>& body = handle->shared();
  return body && body->array() && body->array()->storage() == array.storage();
}

// An argument, written or not.
bool is_argument(const Program& program, ValueId value) noexcept {
  while (value != kNoValue && program[value].over != kNoValue) {
    value = program[value].over;
  }
  return value != kNoValue && program[value].origin == Origin::kArgument;
}

std::string text_of(const tensor::Spec& spec) {
  return fmt::format("{} {}", name_of(spec.dtype), format_shape(spec.shape));
}

}  // namespace

Guards::Guards(const Program& program, int threads)
    : program_(program),
      domain_(memory::domain()),
      grad_enabled_(tensor::thread_execution().grad_enabled),
      precision_(current_precision()),
      threads_(threads),
      is_in_scope_(memory::Scope::innermost() != nullptr),
      nest_(memory::Scope::nest()),
      asks_where_arguments_are_(
          program.asks_scopes ||
          std::any_of(program.results.begin(), program.results.end(),
                      [&](const Result& result) {
                        return is_argument(program, result.operand.value);
                      })),
      held_(program.held_handles.size()),
      states_(program.rebound_handles.size()) {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    held_[i].start(*program.held_handles[i].handle);
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].start(*program.rebound_handles[i].handle);
  }
}

BrokenGuard Guards::broken(const GivenArguments& given) const {
  if (const BrokenGuard found = broken_context()) {
    return found;
  }
  if (const BrokenGuard found = broken_arguments(given)) {
    return found;
  }
  if (const BrokenGuard found = broken_for_ever()) {
    return found;
  }
  if (const BrokenGuard found = broken_objects()) {
    return found;
  }
  return broken_leaves();
}

BrokenGuard Guards::broken_context() const noexcept {
  if (&domain_ != &memory::domain()) {
    return {What::kDomain};
  }
  if (grad_enabled_ != tensor::thread_execution().grad_enabled) {
    return {What::kGradMode};
  }
  if (precision_ != current_precision()) {
    return {What::kPrecision};
  }
  if (threads_ != tensor::executor().threads()) {
    return {What::kThreads};
  }
  // Without one, nobody saw which states the step takes out of a scope.
  const bool is_in_scope = memory::Scope::innermost() != nullptr;
  if (is_in_scope != is_in_scope_ &&
      (program_.asks_scopes || (is_in_scope && !states_.empty()))) {
    return {What::kScope};
  }
  if (program_.asks_which_scope && nest_ != memory::Scope::nest()) {
    return {What::kScope};
  }
  return {};
}

BrokenGuard Guards::broken_arguments(const GivenArguments& given) const {
  if (given.specs.size() != program_.arguments.size()) {
    return {What::kArgumentCount};
  }
  if (given.rows_of_all != 0 && given.rows_of_all != program_.sharding.rows) {
    return {What::kRows};
  }
  for (std::size_t i = 0; i < given.specs.size(); ++i) {
    if (!(given.specs[i] == program_.arguments[i])) {
      return {What::kArgument, i};
    }
    if (given.is_number(i) != (program_.numbers[i] != 0)) {
      return {What::kNumber, i};
    }
    if (i < given.tensors.size() && !fits_gaps(given.tensors[i], i)) {
      return {What::kGaps, i};
    }
    if (asks_where_arguments_are_ &&
        static_cast<std::uint8_t>(place_of(given, i)) != program_.outside[i]) {
      return {What::kArgumentScope, i};
    }
  }
  if (given.tensors.empty() && !program_.gapped.empty()) {
    return {What::kGaps, program_.gapped.front().argument};
  }
  return {};
}

// A view with gaps is read as the view that it is.
bool Guards::fits_gaps(const Tensor& tensor, std::size_t i) const {
  const bool has_gaps = !tensor.is_contiguous();
  for (const GappedArgument& gapped : program_.gapped) {
    if (gapped.argument == i) {
      tensor::Layout layout = tensor.array()->layout();
      layout.offset = 0;
      return has_gaps && layout == gapped.layout;
    }
  }
  return !has_gaps;
}

BrokenGuard Guards::broken_for_ever() const {
  for (std::size_t i = 0; i < program_.externals.size(); ++i) {
    if (!program_.externals[i].is_current()) {
      return {What::kTensor, i};
    }
  }
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const HeldHandle& handle = program_.held_handles[i];
    if (!means(held_[i].handle(), handle.array.get(), handle.link)) {
      return {What::kHandle, i};
    }
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].handle() == nullptr) {
      return {What::kState, i};
    }
  }
  for (std::size_t i = 0; i < program_.generations.size(); ++i) {
    if (*program_.generations[i].count != program_.generations[i].value) {
      return {What::kGeneration, i};
    }
  }
  return {};
}

BrokenGuard Guards::broken_objects() const {
  for (std::size_t i = 0; i < program_.flags.size(); ++i) {
    if (*program_.flags[i].flag != program_.flags[i].value) {
      return {What::kFlag, i};
    }
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!does_state_hold(i)) {
      return {What::kState, i};
    }
  }
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const HeldHandle& handle = program_.held_handles[i];
    if (handle.is_scope_asked &&
        memory::Scope::home_of(*held(i).shared()) != handle.home) {
      return {What::kHome, i};
    }
  }
  for (std::size_t i = 0; i < program_.twins.size(); ++i) {
    if (!are_one(program_.twins[i])) {
      return {What::kTwins, i};
    }
  }
  return {};
}

bool Guards::are_one(const Twins& twins) const noexcept {
  const auto body = [&](const HandlePlace& place) {
    const Tensor& handle =
        place.is_rebound ? state(place.index) : held(place.index);
    return handle.shared().get();
  };
  return body(twins.one) == body(twins.other);
}

bool Guards::does_state_hold(std::size_t i) const {
  const ReboundHandle& state = program_.rebound_handles[i];
  if (!state.is_read) {
    return true;
  }
  const base::Ref<tensor::Body>& body = states_[i].handle()->shared();
  if (!body || !body->array()) {
    return !state.was_defined;
  }
  if (!state.was_defined) {
    return false;
  }
  if (state.is_fixed) {
    return means(states_[i].handle(), state.array.get(), state.link);
  }
  const tensor::Array& array = *body->array();
  if (state.partner != ReboundHandle::kNone &&
      !is_on(states_[state.partner].handle(), array)) {
    return false;
  }
  const bool is_plain =
      (!state.is_placed || body->link() == state.link) &&
      (state.external == ReboundHandle::kNone || !array.has_tangents());
  return is_plain && array.spec() == state.spec &&
         array.layout() == state.layout;
}

BrokenGuard Guards::broken_leaves() const {
  const std::span<const base::Ref<graph::Hook>> hooks = program_.hooks;
  std::size_t first_hook = 0;
  for (std::size_t i = 0; i < program_.leaves.size(); ++i) {
    const LeafMode& mode = program_.leaves[i];
    if (leaf_of(mode.leaf).requires_grad() != mode.requires_grad) {
      return {What::kLeafMode, i};
    }
    if (!graph::has_hooks(leaf_of(mode.leaf),
                          hooks.subspan(first_hook, mode.hooks))) {
      return {What::kLeafHooks, i};
    }
    first_hook += mode.hooks;
  }
  for (std::size_t i = 0; i < program_.grads.size(); ++i) {
    const LeafGrad& grad = program_.grads[i];
    if (grad.is_read &&
        leaf_of(grad.leaf).grad().defined() != grad.was_defined) {
      return {What::kGradient, i};
    }
  }
  return {};
}

// --- in words ----------------------------------------------------------------

std::string Guards::describe(const BrokenGuard& guard,
                             const GivenArguments& given) const {
  switch (guard.what) {
    case What::kNone:
      return "every guard holds";
    case What::kDomain:
    case What::kGradMode:
    case What::kPrecision:
    case What::kThreads:
    case What::kScope:
      return describe_context(guard.what);
    case What::kArgumentCount:
      return fmt::format("{} arguments, were {}", given.specs.size(),
                         program_.arguments.size());
    case What::kArgument:
      return describe_argument(guard.index, given);
    case What::kRows:
      return fmt::format("the batch of all ranks has {} rows, had {}",
                         given.rows_of_all, program_.sharding.rows);
    case What::kArgumentScope:
      return fmt::format("argument {} is in another scope than before",
                         guard.index);
    case What::kNumber:
      return given.is_number(guard.index)
                 ? fmt::format("argument {} is a number, was a tensor",
                               guard.index)
                 : fmt::format("argument {} is a tensor, was a number",
                               guard.index);
    case What::kGaps:
      return fmt::format("argument {} is a view with other strides, was {}",
                         guard.index, text_of_strides(guard.index));
    default:
      return describe_object(guard);
  }
}

std::string Guards::text_of_strides(std::size_t i) const {
  for (const GappedArgument& gapped : program_.gapped) {
    if (gapped.argument == i) {
      return format_shape(gapped.layout.strides);
    }
  }
  return "dense";
}

std::string Guards::describe_argument(std::size_t i,
                                      const GivenArguments& given) const {
  return fmt::format("argument {} is {}, was {}", i, text_of(given.specs[i]),
                     text_of(program_.arguments[i]));
}

std::string Guards::describe_context(What what) const {
  const auto name_of_precision = [](kernels::Precision precision) {
    return precision == kernels::Precision::kF32 ? "f32" : "bf16";
  };
  switch (what) {
    case What::kDomain:
      return "another memory domain is in use";
    case What::kGradMode:
      return grad_enabled_ ? "NoGrad is in force, was not"
                           : "NoGrad is not in force, was before";
    case What::kPrecision:
      return fmt::format("the precision of products is {}, was {}",
                         name_of_precision(current_precision()),
                         name_of_precision(precision_));
    case What::kScope:
      if (is_in_scope_ == (memory::Scope::innermost() != nullptr)) {
        return "the call is inside other scopes than before";
      }
      return is_in_scope_ ? "the call is in no scope, was inside one"
                          : "the call is inside a scope, was in none";
    default:
      return fmt::format("the executor has {} threads, had {}",
                         tensor::executor().threads(), threads_);
  }
}

std::string Guards::describe_object(const BrokenGuard& guard) const {
  const auto name_of_owner = [&](memory::OwnerId owner) {
    const std::string path(domain_.path_of(owner));
    return path.empty() ? std::string("a captured tensor")
                        : fmt::format("'{}'", path);
  };
  const auto name_of_leaf = [&](const base::Ref<tensor::GraphLink>& link) {
    return name_of_owner(leaf_of(link).owner());
  };
  const std::size_t i = guard.index;
  switch (guard.what) {
    case What::kFlag:
      return fmt::format("a mode (train, eval) or a setting is {}, was {}",
                         *program_.flags[i].flag, program_.flags[i].value);
    case What::kGeneration:
      return "a module was assigned over, swapped, moved or extended";
    case What::kTensor:
      return "a captured tensor was tied, assigned over or freed";
    case What::kHandle:
      return held_[i].handle() == nullptr
                 ? "a handle that the step reads was destroyed or moved"
                 : "a handle that the step reads refers to another tensor";
    case What::kState:
      return "a handle that the step assigns to refers to a tensor of another "
             "shape, dtype or origin";
    case What::kTwins:
      return "two handles that the step reads no longer refer to one tensor";
    case What::kHome:
      return "a tensor that the step keeps, moves or releases is of another "
             "scope";
    case What::kLeafMode:
      return fmt::format("{} now {}", name_of_leaf(program_.leaves[i].leaf),
                         leaf_of(program_.leaves[i].leaf).requires_grad()
                             ? "requires a gradient"
                             : "requires no gradient");
    case What::kLeafHooks:
      return fmt::format("the hooks of {} have changed",
                         name_of_leaf(program_.leaves[i].leaf));
    default:
      return fmt::format(
          "{} {} a gradient at the step's entry",
          name_of_leaf(program_.grads[i].leaf),
          program_.grads[i].was_defined ? "no longer has" : "now has");
  }
}

}  // namespace neap::compiler
