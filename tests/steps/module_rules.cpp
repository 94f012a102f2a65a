// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules about modules that are exchanged: layers assigned over, swapped and
// tied, a pointer to one that is set to another; and lists of tensors that grow
// and change places.
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "scene.hpp"

namespace neap::steps {
namespace {

// Operand 1 in a form that a layer takes.
Tensor input_of(Scene& scene, const Action& action) {
  const Tensor& value = scene.get(action, 1);
  return as_matrix(value.rank() == 2 && value.size(1) != kWidth ? mean(value)
                                                                : value);
}

const Tensor& item_of(Scene& scene, const Action& action, std::size_t i) {
  const auto& pool = scene.world().pool;
  return pool[static_cast<std::size_t>(scene.number(action, i)) % pool.size()];
}

constexpr Rule kRules[] = {
    {"pair", "r rahsv", Theme::kModules, 6, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0, s.world().pair(input_of(s, a)));
     }},
    {"layer", "r rahsv", Theme::kModules, 3, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0, (*s.world().layer)(input_of(s, a)));
     }},
    {"named_weight", "r rahsv", Theme::kModules, 2, 0,
     [](Scene& s, const Action& a) {
       const Tensor weight = s.world().pair.parameter("b.weight");
       s.put(a, 0, tanh(matmul(input_of(s, a), weight.detach())));
     }},
    {"item", "r rahsv #3", Theme::kModules, 3, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0, s.get(a, 1) * item_of(s, a, 2));
     }},
    {"carry_item", "r #3", Theme::kModules, 2, 0,
     [](Scene& s, const Action& a) {
       const NoGrad guard;
       auto& pool = s.world().pool;
       const auto index = static_cast<std::size_t>(s.number(a, 1));
       pool[index % pool.size()] = item_of(s, a, 1) * 0.5 + mean(s.get(a, 0));
     }},
    {"new_layer", "#9", Theme::kModules, 0, 4,
     [](Scene& s, const Action& a) {
       s.world().pair.a = drawn_layer(s.number(a, 0));
     }},
    {"new_pair", "#9", Theme::kModules, 0, 3,
     [](Scene& s, const Action& a) {
       s.world().pair = drawn_pair(s.number(a, 0));
     }},
    {"new_drop", "#4", Theme::kModules, 1, 2,
     [](Scene& s, const Action& a) {
       s.world().pair.drop = nn::Dropout(0.25 * s.number(a, 0));
     }},
    {"swap_layers", "", Theme::kModules, 1, 4,
     [](Scene& s, const Action& /*a*/) {
       Pair& pair = s.world().pair;
       nn::Linear first = std::move(pair.a);
       pair.a = std::move(pair.b);
       pair.b = std::move(first);
     }},
    {"tie", "", Theme::kModules, 1, 2,
     [](Scene& s, const Action& /*a*/) {
       Pair& pair = s.world().pair;
       pair.tie("b.weight", pair.a.weight());
     }},
    {"load_layer", "", Theme::kModules, 1, 2,
     [](Scene& s, const Action& /*a*/) {
       const NoGrad guard;
       const Pair& pair = s.world().pair;
       copy_(pair.a.weight(), pair.b.weight() * 0.5);
     }},
    {"pair_mode", "#4", Theme::kModules, 1, 3,
     [](Scene& s, const Action& a) {
       Pair& pair = s.world().pair;
       pair.train(s.number(a, 0) % 2 != 0);
       s.number(a, 0) < 2 ? pair.a.freeze() : pair.a.unfreeze();
     }},
    {"point", "#2", Theme::kModules, 0, 4,
     [](Scene& s, const Action& a) {
       Pair& pair = s.world().pair;
       s.world().layer = s.number(a, 0) == 0 ? &pair.a : &pair.b;
     }},
    {"swap_pools", "", Theme::kModules, 0, 3,
     [](Scene& s, const Action& /*a*/) {
       std::swap(s.world().pool, s.world().other_pool);
     }},
    {"grow_pool", "#9", Theme::kModules, 0, 2,
     [](Scene& s, const Action& a) {
       s.world().pool.push_back(full({kWidth}, 0.1 * s.number(a, 0)));
     }},
    {"set_item", "#3 #9", Theme::kModules, 0, 3,
     [](Scene& s, const Action& a) {
       auto& pool = s.world().pool;
       pool[static_cast<std::size_t>(s.number(a, 0)) % pool.size()] =
           full({kWidth}, 0.1 * s.number(a, 1));
     }},
};

}  // namespace

std::span<const Rule> module_rules() {
  return kRules;
}

}  // namespace neap::steps
