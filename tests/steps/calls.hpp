// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Calls: arguments of every layout, one call of a step in one world, and what
// may take place between calls.
#pragma once

#include "neap/base/error.hpp"
#include "neap/compile/options.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/executor.hpp"
#include "scene.hpp"

namespace neap::steps {

bool has_option(const StepProgram& program, std::string_view name);
/// Numbers of the host's that a step reads are noticed where it is verified.
/// How many tensors are kept is one: they are counted from the end.
bool reads_numbers(const StepProgram& program);
/// keep_all, keep_0, plain, poison, guards, no_reuse, max_batch, paged,
/// programs_2, prepared, verify. THROWS: ValueError for another name.
CompileOptions options_of(const StepProgram& program);
inline constexpr std::array kOptionNames{
    "keep_all",  "keep_0", "plain",      "poison",   "guards", "no_reuse",
    "max_batch", "paged",  "programs_2", "prepared", "verify"};

/// No other tensor of the world lies on its elements, and no graph records it.
bool is_free(const World& world, const Tensor& tensor);
/// The latest call's first result may be an argument of the next.
bool is_free_result(const World& world);

/// False where what the action writes is shared with a result or a gradient in
/// ways that no contract settles.
bool may_take_place(const World& world, const Action& action,
                    const StepProgram& program);
/// The call that the actions plain_call and second_call make.
Call call_between();
/// One action between calls of a program's step.
void act(World& world, const Action& action, const StepProgram& program);

std::vector<Seen> see(std::string_view name, std::span<const Tensor> tensors);

/// One call in one world.
class Run {
 public:
  Run(World& world, const Call& call, bool may_feed_back);

  /// The results become the world's latest; until then it holds those before.
  template <class Step>
  void call(World& world, const Step& step) {
    const UseGenerator use(world.generator());
    const UsePrecision precision(world.is_bf16 ? Precision::kBf16
                                               : Precision::kF32);
    const tensor::UseGradMode mode(is_grad_enabled() && !world.is_no_grad);
    const tensor::ExecutionGuard execution([&](tensor::Execution& e) {
      e.executor = world.is_serial ? &threads::serial_executor() : nullptr;
    });
    ++world.calls;
    const World::Inside inside(world);
    const World::AroundCall around(world);
    const memory::Vector<Tensor> made =
        step(arguments_[0], arguments_[1], number_);
    world.results.assign(made.begin(), made.end());
    if (world.around) {
      keep(*world.around, world);
    }
  }
  void call_plainly(const StepProgram& program);

  /// Arguments, the world's latest results, and what is one tensor.
  std::vector<Seen> seen() const;
  bool shares(const Tensor& tensor) const;

 private:
  // In the scope around the call: what is needed after it.
  static void keep(Scope& scope, const World& world);

  World& world_;
  std::vector<Tensor> arguments_;
  double number_;
};

/// An Error that was thrown, by its class and its words; or none.
struct Caught {
  std::string type;  // type_of()
  std::string message;

  explicit operator bool() const { return !type.empty(); }
};

Caught caught(const Error& error);

template <class F>
Caught caught_of(const F& run) {
  try {
    run();
    return {};
  } catch (const Error& error) {
    return caught(error);
  }
}

/// The few errors that a compiled step may throw whatever the plain one does,
/// an error of another class included: the step cannot be compiled as it is, or
/// not be called with these arguments.
bool is_refusal(const Error& error);
/// A trace that was made to compare it with an earlier one is another.
bool is_of_verify(const Error& error);
/// Type and words, without numbers and places.
std::string refusal_of(const Error& error);

}  // namespace neap::steps
