// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The arguments of a call of a compiled step: tensors, numbers, their specs.
#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/compile/step_core.hpp"
#include "neap/graph/trace.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {

using base::raise;

namespace {

void check_given(std::size_t i, const Argument& argument) {
  if (argument.tensor == nullptr && !argument.is_exact) {
    raise<ValueError>(
        "compile: argument {} is an integer near {:.17g}, which no double "
        "represents exactly; make a tensor of it with from_span()",
        i, argument.number);
  }
  if (argument.tensor != nullptr && !argument.tensor->defined()) {
    raise<ValueError>("compile: argument {} is undefined", i);
  }
}

}  // namespace

// Nothing of the call outlasts it: what it is a part of may be a trace.
void StepCore::call_as_part(Step step, std::span<const Argument> arguments,
                            base::FunctionRef<void(std::size_t)> expect,
                            base::FunctionRef<void(std::span<Tensor>)> take) {
  memory::Vector<Tensor> tensors;
  memory::Vector<Tensor> results;
  tensors.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    check_given(i, arguments[i]);
    const Tensor* tensor = arguments[i].tensor;
    if (tensor == nullptr) {
      tensors.push_back(part_number(arguments[i].number, arguments));
      continue;
    }
    tensors.push_back(*tensor);
  }
  step(tensors, results);
  expect(results.size());
  take(results);
}

void StepCore::take_arguments(std::span<const Argument> arguments) {
  arguments_.clear();
  arguments_.reserve(arguments.size());
  is_number_.clear();
  is_number_.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    check_given(i, argument);
    is_number_.push_back(argument.tensor == nullptr ? 1 : 0);
    if (argument.tensor == nullptr) {
      arguments_.push_back(number(i, argument.number));
      continue;
    }
    const Tensor& tensor = *argument.tensor;
    if (tensor::thread_execution().grad_enabled && tensor.requires_grad()) {
      raise<ValueError>(
          "compile: argument {} requires grad; let the step capture it, or "
          "detach() it",
          i);
    }
    arguments_.push_back(tensor);
  }
  specs_.clear();
  specs_.reserve(arguments_.size());
  for (const Tensor& argument : arguments_) {
    specs_.push_back(argument.spec());
  }
}

// The tensors are those of the running call, which has the specs; other sizes
// of the batch are traced dense.
GivenArguments StepCore::given(std::span<const tensor::Spec> specs) const {
  const bool is_call = specs.data() == specs_.data() && !arguments_.empty();
  return {.specs = specs,
          .tensors = is_call ? std::span<const Tensor>(arguments_)
                             : std::span<const Tensor>(),
          .numbers = is_number_,
          .rows_of_all = rows_of_all_};
}

// A number where the step is the plain function, which takes tensors. What
// traces it knows numbers; elsewhere it is of the tensors' dtype.
Tensor StepCore::part_number(double value,
                             std::span<const Argument> arguments) {
  if (graph::Trace* trace = graph::trace()) {
    Tensor number = scalar(value, f64);
    trace->on_number(number);
    return number;
  }
  const bool has_f64 = std::any_of(
      arguments.begin(), arguments.end(), [](const Argument& argument) {
        const Tensor* tensor = argument.tensor;
        return tensor != nullptr && tensor->defined() && tensor->dtype() == f64;
      });
  return scalar(value, has_f64 ? f64 : f32);
}

Tensor StepCore::number(std::size_t i, double value) {
  numbers_.resize(std::max(numbers_.size(), i + 1));
  Tensor& mine = numbers_[i];
  const bool is_mine_alone = mine.defined() && mine.is_one_handle() &&
                             mine.array()->is_unique() &&
                             mine.array()->storage()->references() == 1;
  if (!is_mine_alone) {
    const memory::OutsideScopes apart;
    mine = scalar(value, f64);
  } else if (mine.array()->storage()->has_elements()) {
    *mine.array()->strided().as<double>() = value;
  }
  return mine;
}

}  // namespace neap::compiler
