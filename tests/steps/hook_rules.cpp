// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules about hooks.
#include "neap/ops/ops.hpp"
#include "scene.hpp"

namespace neap::steps {
namespace {

constexpr int kHookKinds = 6;

// The result of a hook for a gradient.
Tensor run_hook(World& world, int kind, const Tensor& grad) {
  const NoGrad guard;
  switch (kind) {
    case 0:
      return grad * 0.5;
    case 1:
      return tanh(grad) + 0.25;
    case 2:  // writes what the step captured
      copy_(world.states[0], world.states[0] * 0.5 + mean(grad));
      return {};
    case 3:  // assigns what the step captured
      world.handles[2] = mean(grad, {0});
      return {};
    case 4:  // reads it
      return grad + mean(world.states[0]);
    default:
      ++world.counter;
      return {};
  }
}

const Tensor& leaf_of(Scene& scene, const Action& action) {
  const auto& leaves = scene.world().leaves;
  return leaves[static_cast<std::size_t>(scene.number(action, 0)) %
                leaves.size()];
}

int kind_of(Scene& scene, const Action& action, std::size_t i) {
  return scene.number(action, i) % kHookKinds;
}

constexpr Rule kRules[] = {
    {"hook", "l #5", Theme::kHooks, 2, 6,
     [](Scene& s, const Action& a) {
       World& world = s.world();
       const int kind = kind_of(s, a, 1);
       world.hooks.push_back(
           register_hook(leaf_of(s, a), [&world, kind](const Tensor& grad) {
             return run_hook(world, kind, grad);
           }));
     }},
    {"hook_counting", "l", Theme::kHooks, 0, 1,
     [](Scene& s, const Action& a) {
       World& world = s.world();
       world.hooks.push_back(
           register_hook(leaf_of(s, a), [&world](const Tensor& grad) {
             return run_hook(world, kHookKinds - 1, grad);
           }));
     }},
    {"unhook", "#3", Theme::kHooks, 1, 5,
     [](Scene& s, const Action& a) {
       auto& hooks = s.world().hooks;
       const auto index = static_cast<std::size_t>(s.number(a, 0));
       if (index < hooks.size()) {
         hooks[index].remove();
       }
     }},
    {"hook_after", "l #3", Theme::kHooks, 1, 3,
     [](Scene& s, const Action& a) {
       World& world = s.world();
       const Tensor leaf = leaf_of(s, a);
       const int kind = 2 + kind_of(s, a, 1) % 2;
       world.hooks.push_back(register_post_accumulate_hook(
           leaf, [&world, kind](const Tensor& grad) {
             run_hook(world, kind, grad);
           }));
     }},
    {"hook_value", "r rahsv #5", Theme::kHooks, 2, 0,
     [](Scene& s, const Action& a) {
       World& world = s.world();
       const int kind = kind_of(s, a, 2);
       const Tensor value = s.get(a, 1);
       const Tensor made = tanh(value * fit(world.leaves[1], value));
       register_hook(made, [&world, kind](const Tensor& grad) {
         return run_hook(world, kind, grad);
       });
       s.put(a, 0, made);
     }},
};

}  // namespace

std::span<const Rule> hook_rules() {
  return kRules;
}

}  // namespace neap::steps
