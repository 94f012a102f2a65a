// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules about what a step leaves: handles that are assigned, tensors that are
// written, tensors and numbers that the host keeps.
#include "neap/memory/scope.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "scene.hpp"

namespace neap::steps {
namespace {

Tensor& handle_of(Scene& scene, const Action& action, std::size_t i) {
  auto& handles = scene.world().handles;
  return handles[static_cast<std::size_t>(scene.number(action, i)) %
                 handles.size()];
}

// Calls write(target, value) for a view of operand 0 and, where it is a
// tensor, operand 1.
template <class Write>
void write_into(Scene& scene, const Action& action, const Write& write) {
  const NoGrad guard;
  const Tensor target = scene.get(action, 0);
  const Tensor value = scene.get(action, 1);
  if (scene.has(action, 0) && scene.has(action, 1)) {
    const Tensor part = view_of(target, scene.number(action, 2));
    write(part, fit_into(value.detach(), part));
  }
}

void keep(Scene& scene, Tensor tensor) {
  if (tensor.defined()) {
    scene.world().kept.push_back(std::move(tensor));
  }
}

constexpr Rule kRebinding[] = {
    {"rebind", "h rahsv", Theme::kRebinding, 4, 0,
     [](Scene& s, const Action& a) { s.put(a, 0, s.get(a, 1)); }},
    {"rebind_detached", "h rahsv", Theme::kRebinding, 4, 0,
     [](Scene& s, const Action& a) { s.put(a, 0, s.get(a, 1).detach()); }},
    {"carry", "h rasv", Theme::kRebinding, 6, 2,
     [](Scene& s, const Action& a) {
       const NoGrad guard;
       Tensor& handle = handle_of(s, a, 0);
       handle = handle * 0.5 + fit(s.get(a, 1), handle);
     }},
    {"carry_detached", "h rasv", Theme::kRebinding, 3, 0,
     [](Scene& s, const Action& a) {
       Tensor& handle = handle_of(s, a, 0);
       handle = handle.detach() * 0.5 +
                fit(s.get(a, 1).detach(), s.world().handles[0].alias());
     }},
    {"rebind_alias", "h rahsv", Theme::kRebinding, 2, 0,
     [](Scene& s, const Action& a) { s.put(a, 0, s.get(a, 1).alias()); }},
    {"carry_recorded", "h rasv", Theme::kRebinding, 1, 0,
     [](Scene& s, const Action& a) {
       Tensor& handle = handle_of(s, a, 0);
       handle = tanh(handle) * s.world().leaves[1] + fit(s.get(a, 1), handle);
     }},
    {"swap", "h h", Theme::kRebinding, 2, 2,
     [](Scene& s, const Action& a) {
       std::swap(handle_of(s, a, 0), handle_of(s, a, 1));
     }},
    {"rebind_view", "h rahsv #3", Theme::kRebinding, 2, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0, view_of(s.get(a, 1).detach(), s.number(a, 2)));
     }},
    {"rebind_new", "h #9", Theme::kRebinding, 1, 4,
     [](Scene& s, const Action& a) {
       s.put(a, 0, full({kRows, kWidth}, 0.1 * s.number(a, 1)));
     }},
    {"rebind_leaf", "h l", Theme::kRebinding, 1, 1,
     [](Scene& s, const Action& a) { s.put(a, 0, s.get(a, 1)); }},
    {"rebind_gradient", "h g", Theme::kRebinding, 2, 1,
     [](Scene& s, const Action& a) {
       if (s.has(a, 1)) {
         s.put(a, 0, s.get(a, 1));
       }
     }},
    {"rebind_other", "h hsvk", Theme::kRebinding, 0, 3,
     [](Scene& s, const Action& a) {
       const Tensor value = s.get(a, 1);
       if (value.defined() && !value.requires_grad()) {
         s.put(a, 0, value);
       }
     }},
};

constexpr Rule kWrites[] = {
    {"copy_", "hsvarglo rahsv #4", Theme::kWrites, 5, 4,
     [](Scene& s, const Action& a) {
       write_into(s, a, [](const Tensor& t, const Tensor& v) { copy_(t, v); });
     }},
    {"add_", "hsvarglo rahsv #4", Theme::kWrites, 5, 4,
     [](Scene& s, const Action& a) {
       write_into(s, a, [](const Tensor& t, const Tensor& v) {
         copy_(t, t * 0.5 + v);
       });
     }},
    {"add_into_", "hsaro rahsv #1", Theme::kWrites, 3, 2,
     [](Scene& s, const Action& a) {
       write_into(s, a, [](const Tensor& t, const Tensor& v) { add_(t, v); });
     }},
    {"fill_", "hsvarglo #9 #4", Theme::kWrites, 4, 4,
     [](Scene& s, const Action& a) {
       const NoGrad guard;
       const Tensor target = s.get(a, 0);
       if (target.defined()) {
         fill_(view_of(target, s.number(a, 2)), 0.1 * s.number(a, 1));
       }
     }},
    {"scribble", "o #9", Theme::kValues, 0, 2,
     [](Scene& s, const Action& a) {
       const NoGrad guard;
       fill_(s.get(a, 0), 0.1 * s.number(a, 1));
     }},
    {"poke", "hs #9", Theme::kWrites, 0, 3,
     [](Scene& s, const Action& a) {
       Tensor target = s.get(a, 0);
       if (target.is_contiguous() && !target.requires_grad()) {
         target.mutable_values<float>()[0] =
             0.1F * static_cast<float>(s.number(a, 1));
       }
     }},
    {"undefine", "h", Theme::kUndefined, 0, 1,
     [](Scene& s, const Action& a) { handle_of(s, a, 0) = Tensor(); }},
    {"revoke", "h", Theme::kUndefined, 0, 1,
     [](Scene& s, const Action& a) {
       const memory::Scope scope;
       handle_of(s, a, 0) = zeros({kRows, kWidth});
     }},
    // The step then throws in another way.
    {"misshape", "h", Theme::kUndefined, 0, 1,
     [](Scene& s, const Action& a) {
       handle_of(s, a, 0) = zeros({kRows + 4, kWidth + 1});
     }},
    {"retype", "h", Theme::kUndefined, 0, 1,
     [](Scene& s, const Action& a) {
       handle_of(s, a, 0) = zeros({kRows, kWidth}, f64);
     }},
    {"keep", "rahsv", Theme::kKeeping, 4, 1,
     [](Scene& s, const Action& a) { keep(s, s.get(a, 0).detach()); }},
    {"keep_gradient", "g", Theme::kKeeping, 2, 2,
     [](Scene& s, const Action& a) { keep(s, s.get(a, 0)); }},
    {"forget", "", Theme::kKeeping, 1, 2,
     [](Scene& s, const Action& /*a*/) { s.world().kept.clear(); }},
    {"times", "r rahsv #2", Theme::kNumbers, 4, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0,
             s.get(a, 1) *
                 s.world().numbers[static_cast<std::size_t>(s.number(a, 2))]);
     }},
    {"count_up", "", Theme::kNumbers, 3, 2,
     [](Scene& s, const Action& /*a*/) {
       ++s.world().counter;
       s.world().numbers[0] *= 0.5;
     }},
    {"if_even", "r rahsv", Theme::kNumbers, 2, 0,
     [](Scene& s, const Action& a) {
       const Tensor value = s.get(a, 1);
       s.put(a, 0, s.world().counter % 2 == 0 ? tanh(value) : value * 0.5);
     }},
    {"set_number", "#2 #9", Theme::kNumbers, 0, 3,
     [](Scene& s, const Action& a) {
       s.world().numbers[static_cast<std::size_t>(s.number(a, 0))] =
           0.3 * s.number(a, 1);
     }},
};

std::vector<Rule> joined() {
  std::vector<Rule> all(std::begin(kRebinding), std::end(kRebinding));
  all.insert(all.end(), std::begin(kWrites), std::end(kWrites));
  return all;
}

}  // namespace

std::span<const Rule> state_rules() {
  static const std::vector<Rule> all = joined();
  return all;
}

}  // namespace neap::steps
