// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules about gradients and optimizers.
#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/clip.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"
#include "scene.hpp"

namespace neap::steps {
namespace {

Tensor leaf_of(Scene& scene, const Action& action, std::size_t i) {
  const auto& leaves = scene.world().leaves;
  return leaves[static_cast<std::size_t>(scene.number(action, i)) %
                leaves.size()];
}

// Reaches every leaf, so that a backward has something to do.
Tensor loss_of(Scene& scene, const Tensor& value) {
  const auto& leaves = scene.world().leaves;
  return mean(square(value)) + mean(tanh(leaves[0])) +
         mean(leaves[1] * leaves[4]) + mean(leaves[2] * leaves[3]);
}

// A tensor on the elements of `value` that has the shape of `leaf`; for a
// matrix a row that is repeated.
Tensor as_gradient(const Tensor& value, const Tensor& leaf, int row) {
  const Tensor matrix = as_matrix(value.detach());
  if (matrix.shape() == leaf.shape()) {
    return matrix;
  }
  const std::int64_t at = row % matrix.size(0);
  const Tensor one = slice(matrix, 0, at, at + 1);
  return leaf.rank() == 1 ? reshape(one, {kWidth}) : expand(one, leaf.shape());
}

std::vector<Tensor> all_of(const World& world) {
  return {world.leaves.begin(), world.leaves.end()};
}

ParameterList list_of(const World& world) {
  return world.optimizer->parameters();
}

void save_state(World& world) {
  world.saved = world.optimizer->state();
  for (auto& slot : world.saved->slots) {
    for (Tensor& tensor : slot.tensors) {
      tensor = tensor.defined() ? copy(tensor) : Tensor();
    }
  }
}

// The last leaf, once.
void add_group(World& world) {
  if (world.optimizer->group_count() > 1) {
    return;
  }
  ParameterList list;
  list.push_back({memory::String("added"), world.leaves.back(), {}});
  if (world.is_adam) {
    static_cast<optim::Adam&>(*world.optimizer).add_group(list, {.lr = 0.03});
  } else {
    static_cast<optim::SGD&>(*world.optimizer).add_group(list, {.lr = 0.03});
  }
}

constexpr Rule kGradients[] = {
    {"backward", "rahsv", Theme::kGradients, 6, 1,
     [](Scene& s, const Action& a) { backward(loss_of(s, s.get(a, 0))); }},
    {"grad", "r rahsv l", Theme::kGradients, 2, 0,
     [](Scene& s, const Action& a) {
       const Tensor loss = loss_of(s, s.get(a, 1));
       s.put(a, 0,
             grad(loss, {leaf_of(s, a, 2)},
                  {.unused = GradOptions::Unused::kZeros})[0]);
     }},
    {"set_grad", "l rahsv #3", Theme::kGradients, 3, 2,
     [](Scene& s, const Action& a) {
       const Tensor leaf = leaf_of(s, a, 0);
       set_grad(leaf, as_gradient(s.get(a, 1), leaf, s.number(a, 2)));
     }},
    {"clear_grad", "l", Theme::kGradients, 2, 2,
     [](Scene& s, const Action& a) { set_grad(leaf_of(s, a, 0), Tensor()); }},
    {"clear_grads", "", Theme::kGradients, 2, 2,
     [](Scene& s, const Action& /*a*/) { zero_grad(all_of(s.world())); }},
    {"retain", "r rahsv", Theme::kKeeping, 2, 0,
     [](Scene& s, const Action& a) {
       World& world = s.world();
       const Tensor value = s.get(a, 1);
       const Tensor made = tanh(value * fit(world.leaves[2], value));
       retain_grad(made);
       world.retained = made;
       s.put(a, 0, made);
     }},
    {"drop_retained", "", Theme::kKeeping, 0, 1,
     [](Scene& s, const Action& /*a*/) { s.world().retained = Tensor(); }},
};

constexpr Rule kOptimizer[] = {
    {"update", "", Theme::kOptimizer, 6, 1,
     [](Scene& s, const Action& /*a*/) { s.world().optimizer->step(); }},
    {"update_and_release", "", Theme::kOptimizer, 2, 0,
     [](Scene& s, const Action& /*a*/) {
       s.world().optimizer->step({.release_gradients = true});
     }},
    {"zero_grad", "", Theme::kOptimizer, 4, 1,
     [](Scene& s, const Action& /*a*/) { s.world().optimizer->zero_grad(); }},
    {"clip", "", Theme::kOptimizer, 2, 0,
     [](Scene& s, const Action& /*a*/) {
       optim::clip_grad_norm(list_of(s.world()), 0.5);
     }},
    {"set_lr", "#9", Theme::kOptimizer, 0, 4,
     [](Scene& s, const Action& a) {
       s.world().optimizer->set_lr(0.01 * (s.number(a, 0) + 1));
     }},
    {"set_schedule", "#2", Theme::kOptimizer, 0, 2,
     [](Scene& s, const Action& a) {
       s.world().optimizer->set_schedule(s.number(a, 0) == 0
                                             ? optim::Schedule()
                                             : optim::exponential(0.05, 0.75));
     }},
    {"set_options", "#3", Theme::kOptimizer, 0, 2,
     [](Scene& s, const Action& a) {
       World& world = s.world();
       const double rate = 0.3 * s.number(a, 0);
       if (world.is_adam) {
         auto& adam = static_cast<optim::Adam&>(*world.optimizer);
         auto options = adam.options();
         options.beta1 = rate;
         adam.set_options(0, options);
       } else {
         auto& sgd = static_cast<optim::SGD&>(*world.optimizer);
         auto options = sgd.options();
         options.momentum = rate;
         sgd.set_options(0, options);
       }
     }},
    {"save_state", "", Theme::kOptimizer, 0, 1,
     [](Scene& s, const Action& /*a*/) { save_state(s.world()); }},
    {"load_state", "", Theme::kOptimizer, 0, 2,
     [](Scene& s, const Action& /*a*/) {
       if (s.world().saved) {
         s.world().optimizer->set_state(*s.world().saved);
       }
     }},
    {"add_group", "", Theme::kOptimizer, 0, 1,
     [](Scene& s, const Action& /*a*/) { add_group(s.world()); }},
    {"times_lr", "r rahsv", Theme::kReadings, 3, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0, s.get(a, 1) * s.world().optimizer->lr());
     }},
    {"times_count", "r rahsv", Theme::kReadings, 3, 0,
     [](Scene& s, const Action& a) {
       const auto count = s.world().optimizer->step_count();
       s.put(a, 0, s.get(a, 1) * (0.25 * static_cast<double>(count)));
     }},
    {"times_option", "r rahsv", Theme::kReadings, 3, 0,
     [](Scene& s, const Action& a) {
       World& world = s.world();
       const double option =
           world.is_adam
               ? static_cast<optim::Adam&>(*world.optimizer).options().beta1
               : static_cast<optim::SGD&>(*world.optimizer).options().momentum;
       s.put(a, 0, s.get(a, 1) * (option + 0.5));
     }},
};

std::vector<Rule> joined() {
  std::vector<Rule> all(std::begin(kGradients), std::end(kGradients));
  all.insert(all.end(), std::begin(kOptimizer), std::end(kOptimizer));
  return all;
}

}  // namespace

std::span<const Rule> gradient_rules() {
  static const std::vector<Rule> all = joined();
  return all;
}

}  // namespace neap::steps
