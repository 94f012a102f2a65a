// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules about values: ops, views, chance, and what a step returns.
#include "neap/autograd/rematerialise.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "scene.hpp"

namespace neap::steps {
namespace {

// Applies `op` to operand 1 and puts the result where operand 0 says.
template <class Op>
void apply_to(Scene& scene, const Action& action, const Op& op) {
  if (scene.has(action, 1)) {
    scene.put(action, 0, op(scene.get(action, 1)));
  }
}

// The same of operands 1 and 2.
template <class Op>
void apply_to_both(Scene& scene, const Action& action, const Op& op) {
  const Tensor a = scene.get(action, 1);
  const Tensor b = scene.get(action, 2);
  if (scene.has(action, 1) && scene.has(action, 2)) {
    scene.put(action, 0, op(a, fit(b, a)));
  }
}

constexpr Rule kRules[] = {
    {"tanh", "r rahlsvgk", Theme::kValues, 4, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [](const Tensor& x) { return tanh(x); });
     }},
    {"halve", "r rahlsvgk", Theme::kValues, 4, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [](const Tensor& x) { return x * 0.5 + 0.125; });
     }},
    {"add", "r rahlsvgk rahlsv", Theme::kValues, 6, 0,
     [](Scene& s, const Action& a) {
       apply_to_both(s, a,
                     [](const Tensor& x, const Tensor& y) { return x + y; });
     }},
    {"mul", "r rahlsvgk rahlsv", Theme::kValues, 4, 0,
     [](Scene& s, const Action& a) {
       apply_to_both(s, a,
                     [](const Tensor& x, const Tensor& y) { return x * y; });
     }},
    {"matmul", "r rahsv", Theme::kValues, 4, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [&](const Tensor& x) {
         const Tensor rows = x.rank() == 2 && x.size(1) != kWidth ? mean(x) : x;
         return tanh(matmul(as_matrix(rows), s.world().leaves[0]));
       });
     }},
    {"scale", "r rahsv", Theme::kValues, 2, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [&](const Tensor& x) {
         const Tensor& number = s.host_number();
         return number.defined() ? x * number : x;
       });
     }},
    {"constant", "r #4", Theme::kValues, 4, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0,
             from_values({0.25, -0.5, 0.1 * s.number(a, 1), 1.0}, {1, kWidth}));
     }},
    {"filled", "r #4", Theme::kValues, 2, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0, full({kRows, kWidth}, 0.25 * (s.number(a, 1) + 1)));
     }},
    {"segment", "r rahsv hsl", Theme::kValues, 2, 0,
     [](Scene& s, const Action& a) {
       const Tensor other = s.get(a, 2);
       apply_to(s, a, [&](const Tensor& x) {
         const Tensor operand = fit(other, x);
         return rematerialise([operand](const Tensor& in) {
           return tanh(in * operand) + operand * 0.5;
         })(x);
       });
     }},
    {"return", "rahlsvg #7", Theme::kValues, 0, 0,
     [](Scene& s, const Action& a) {
       if (s.has(a, 0)) {
         s.give(view_of(s.get(a, 0).detach(), s.number(a, 1)));
       }
     }},
    {"return_itself", "rahlsvg", Theme::kValues, 0, 0,
     [](Scene& s, const Action& a) {
       if (s.has(a, 0)) {
         s.give(s.get(a, 0));
       }
     }},
    {"return_graph", "r", Theme::kValues, 0, 0,
     [](Scene& s, const Action& a) { s.give(s.get(a, 0)); }},
    {"drop_results", "", Theme::kValues, 0, 2,
     [](Scene& s, const Action& /*a*/) { s.world().results.clear(); }},
    // In the hands of who has both worlds.
    {"reset", "", Theme::kValues, 0, 1},
    {"plain_call", "", Theme::kValues, 0, 1},
    {"second_call", "", Theme::kValues, 0, 1},
    {"alias", "r rahsvk", Theme::kViews, 3, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [](const Tensor& x) { return x; });
     }},
    {"rows", "r rahsv #2", Theme::kViews, 4, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [&](const Tensor& x) {
         return x.rank() == 2 ? view_of(x, 1 + s.number(a, 2)) : x;
       });
     }},
    {"repeat", "r rahsv", Theme::kViews, 2, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [](const Tensor& x) { return view_of(x, 6); });
     }},
    {"detach", "r rahsv", Theme::kViews, 2, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [](const Tensor& x) { return x.detach(); });
     }},
    {"dropout", "r rahsv", Theme::kChance, 3, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [](const Tensor& x) { return dropout(x, 0.25); });
     }},
    {"randperm", "r", Theme::kChance, 1, 0,
     [](Scene& s, const Action& a) {
       const Tensor order = cast(randperm(kRows * kWidth), f32);
       s.put(a, 0, reshape(order, {kRows, kWidth}) * 0.125);
     }},
    {"multinomial", "r rahsv", Theme::kChance, 1, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [](const Tensor& x) {
         const Tensor weights = reshape(sigmoid(x), {x.element_count()});
         return cast(multinomial(weights, 3, true), f32) * 0.125;
       });
     }},
    {"cumprod", "r rahlsv", Theme::kValues, 1, 0,
     [](Scene& s, const Action& a) {
       apply_to(s, a, [](const Tensor& x) {
         return x.rank() == 0 ? x * 0.5 : cumprod(tanh(x), -1);
       });
     }},
    {"rand", "r", Theme::kChance, 3, 0,
     [](Scene& s, const Action& a) {
       s.put(a, 0, rand({kRows, kWidth}));
     }},
    {"seed", "#9", Theme::kChance, 0, 3,
     [](Scene& s, const Action& a) {
       s.world().generator() =
           Generator(static_cast<std::uint64_t>(s.number(a, 0)) + 77);
     }},
    {"other_generator", "", Theme::kChance, 0, 2,
     [](Scene& s, const Action& /*a*/) {
       s.world().has_other_generator = !s.world().has_other_generator;
     }},
};

}  // namespace

std::span<const Rule> value_rules() {
  return kRules;
}

}  // namespace neap::steps
