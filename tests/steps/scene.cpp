// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <algorithm>

#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::steps {
namespace {

template <class List>
const Tensor& at(const List& list, int index) {
  return list[static_cast<std::size_t>(index) % std::size(list)];
}

const Tensor& from_end(const std::vector<Tensor>& list, int index,
                       const Tensor& none) {
  const auto back = static_cast<std::size_t>(index);
  return back < list.size() ? list[list.size() - 1 - back] : none;
}

}  // namespace

Scene::Scene(World& world, const Tensor& x, const Tensor& y,
             const Tensor& number)
    : world_(world), arguments_{x, y}, number_(number) {
  for (std::size_t i = 0; i < kRegisters; ++i) {
    registers_[i] = arguments_[i % 2];
  }
}

Scene::Scene(World& world) : world_(world) {
  for (std::size_t i = 0; i < kRegisters; ++i) {
    registers_[i] = made_up(static_cast<int>(i) + 50, {kRows, kWidth});
  }
}

void Scene::run(std::span<const Action> actions) {
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Action& action = actions[i];
    world_.current = &action;
    if (action.rule->act != nullptr) {
      action.rule->act(*this, action);
    }
    if (action.rule->around == nullptr) {
      continue;
    }
    const std::size_t inside =
        std::min(static_cast<std::size_t>(action.operands[0].index),
                 actions.size() - i - 1);
    action.rule->around(*this, action,
                        [&] { run(actions.subspan(i + 1, inside)); });
    i += inside;
  }
}

const Tensor& Scene::get(const Action& action, std::size_t i) const {
  const Operand& operand = action.operands[i];
  switch (operand.where) {
    case 'r':
      return at(registers_, operand.index);
    case 'a':
      return at(arguments_, operand.index);
    case 'l':
      return at(world_.leaves, operand.index);
    case 's':
      return at(world_.states, operand.index);
    case 'v':
      return at(world_.views, operand.index);
    case 'h':
      return at(world_.handles, operand.index);
    case 'g':
      return gradients_[i] = at(world_.leaves, operand.index).grad();
    case 'k':
      return from_end(world_.kept, operand.index, none_);
    case 'o':
      return from_end(world_.results, operand.index, none_);
    default:
      return none_;
  }
}

void Scene::put(const Action& action, std::size_t i, Tensor value) {
  const Operand& operand = action.operands[i];
  const auto index = static_cast<std::size_t>(operand.index);
  if (operand.where == 'h') {
    world_.handles[index % world_.handles.size()] = std::move(value);
  } else {
    registers_[index % kRegisters] = std::move(value);
  }
}

memory::Vector<Tensor> Scene::take_results() {
  if (results_.empty()) {
    results_.push_back(registers_[0]);
  }
  return std::move(results_);
}

Tensor as_matrix(const Tensor& value) {
  switch (value.rank()) {
    case 0:
      return expand(reshape(value, {1, 1}), {1, kWidth});
    case 1:
      return reshape(value, {1, kWidth});
    default:
      return value;
  }
}

Tensor fit(const Tensor& value, const Tensor& other) {
  const bool has_rows = value.rank() == 2 && other.rank() == 2;
  if (!has_rows || value.size(0) == other.size(0) || value.size(0) == 1 ||
      other.size(0) == 1) {
    return value;
  }
  return mean(value, {0}, true);
}

Tensor fit_into(const Tensor& value, const Tensor& target) {
  if (value.rank() == 0 || value.shape() == target.shape()) {
    return value;
  }
  const bool fits_a_row =
      target.rank() >= 1 && target.shape().back() == value.shape().back();
  if (value.rank() == 1 || !fits_a_row) {
    return fits_a_row ? value : mean(value);
  }
  return mean(value, {0}, target.rank() == 2);
}

void take_turn(Scene& scene, const Action& action, bool answer) {
  const Tensor value = scene.get(action, 1);
  scene.put(action, 0, answer ? tanh(value) : value * 0.5);
}

Tensor view_of(const Tensor& value, int kind) {
  if (value.rank() != 2) {
    return value.rank() == 1 && kind != 0 ? slice(value, 0, 1) : value;
  }
  switch (kind) {
    case 1:
      return value.size(0) > 1 ? slice(value, 0, 1) : value;
    case 2:
      return slice(value, 0, 0, kEnd, 2);
    case 3:
      return slice(value, 1, 1, 3);
    case 4:
      return transpose(value);
    case 5:
      return reshape(value, {-1});
    case 6:
      return value.size(0) == 1 ? expand(value, {kRows, value.size(1)})
                                : slice(value, 0, 0, 1);
    default:
      return value;
  }
}

memory::Vector<Tensor> StepFunction::operator()(const Tensor& x,
                                                const Tensor& y,
                                                const Tensor& number) const {
  ++world_->executions;
  Scene scene(*world_, x, y, number);
  scene.run(program_->step);
  return scene.take_results();
}

}  // namespace neap::steps
