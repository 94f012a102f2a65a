// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Scene: where actions take place: a world, and, inside a step, its arguments,
// registers and results. The same code runs eagerly, while a step is traced,
// and between calls.
#pragma once

#include <span>

#include "neap/memory/containers.hpp"
#include "rules.hpp"
#include "world.hpp"

namespace neap::steps {

class Scene {
 public:
  static constexpr std::size_t kRegisters = 6;

  /// Inside a step; `number` has rank 0.
  Scene(World& world, const Tensor& x, const Tensor& y, const Tensor& number);
  /// Between calls.
  explicit Scene(World& world);

  /// Runs the actions in order.
  void run(std::span<const Action> actions);

  World& world() { return world_; }
  /// The handle that operand i of the action names, the world's own and not a
  /// copy, which would be a question of its own; an undefined one where there
  /// is none at the moment.
  const Tensor& get(const Action& action, std::size_t i) const;
  /// False where operand i is what need not be there: a gradient, a tensor that
  /// was kept, a result.
  bool has(const Action& action, std::size_t i) const {
    return std::string_view("gko").find(action.operands[i].where) ==
               std::string_view::npos ||
           get(action, i).defined();
  }
  int number(const Action& action, std::size_t i) const {
    return action.operands[i].index;
  }
  /// Puts a value where operand i says: a register, or a handle.
  void put(const Action& action, std::size_t i, Tensor value);
  const Tensor& host_number() const { return number_; }
  std::span<const Tensor> registers() const { return registers_; }

  void give(Tensor result) { results_.push_back(std::move(result)); }
  /// The results of the step: register 0 where it gave none.
  memory::Vector<Tensor> take_results();

 private:
  World& world_;
  std::array<Tensor, 2> arguments_;
  Tensor number_;
  std::array<Tensor, kRegisters> registers_;
  memory::Vector<Tensor> results_;
  mutable std::array<Tensor, 8> gradients_;  // that operands name
  Tensor none_;
};

// --- what rules share

/// `value` as (rows, kWidth): a row where it has rank 1, expanded where 0.
Tensor as_matrix(const Tensor& value);
/// `value`, or its mean over rows where it does not broadcast with `other`.
Tensor fit(const Tensor& value, const Tensor& other);
/// `value` in a form that can be written over `target`.
Tensor fit_into(const Tensor& value, const Tensor& target);

/// Takes one of two turns with operand 1, by the answer to a question, and puts
/// the value where operand 0 says.
void take_turn(Scene& scene, const Action& action, bool answer);

/// Kinds of views of a tensor.
inline constexpr int kViewKinds = 7;
Tensor view_of(const Tensor& value, int kind);

/// The step of a program, over one world.
class StepFunction {
 public:
  StepFunction(World& world, const StepProgram& program)
      : world_(&world), program_(&program) {}
  memory::Vector<Tensor> operator()(const Tensor& x, const Tensor& y,
                                    const Tensor& number) const;

 private:
  World* world_;
  const StepProgram* program_;
};

}  // namespace neap::steps
