// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules about what lies outside a step: who holds a tensor, how often it was
// written, where a generator stands, what runs the call. No guard notices most
// of it. A step that asks about its own tensors goes on, and is refused where
// it asks about others.
#include "neap/memory/context.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "scene.hpp"

namespace neap::steps {
namespace {

// The answers are those of one call; a step is refused where it asks.
bool ask(Scene& s, std::int64_t which) {
  switch (which) {
    case 0:
      return tensor::execution().executor != nullptr;
    case 1:
      return threads::default_pool().threads() > 1;
    case 2:
      return memory::context().category == memory::Category::kData;
    default:
      return s.world().leaves[0].array()->storage()->version() % 2 == 1;
  }
}

constexpr Rule kRules[] = {
    {"if_one_handle", "r rahsv r", Theme::kQuestions, 1, 0,
     [](Scene& s, const Action& a) {
       const Tensor& asked = s.get(a, 2);
       take_turn(s, a, asked.defined() && asked.has_sole_handle());
     }},
    {"if_identical", "r r r", Theme::kQuestions, 1, 0,
     [](Scene& s, const Action& a) {
       const Tensor& one = s.get(a, 1);
       const Tensor& other = s.get(a, 2);
       take_turn(s, a,
                 one.defined() && other.defined() &&
                     one.identity() == other.identity());
     }},
    {"if_drawn", "r rahsv #3", Theme::kReadings, 1, 0,
     [](Scene& s, const Action& a) {
       const auto least = static_cast<std::uint64_t>(s.number(a, 2));
       take_turn(s, a, tensor::generator().state().draw > least);
     }},
    {"if_sole_owner", "r rahsv r", Theme::kQuestions, 1, 0,
     [](Scene& s, const Action& a) {
       const Tensor& asked = s.get(a, 2);
       take_turn(s, a, asked.defined() && asked.is_sole_owner());
     }},
    {"if_threads", "r rahsv", Theme::kReadings, 1, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, tensor::executor().threads() > 1);
     }},
    {"if_outside", "r rahsv #4", Theme::kReadings, 1, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, ask(s, static_cast<std::int64_t>(s.number(a, 2))));
     }},
    {"lend_executor", "#2", Theme::kReadings, 0, 2,
     [](Scene& s, const Action& a) {
       s.world().is_serial = s.number(a, 0) != 0;
     }},
    {"other_advances", "", Theme::kReadings, 1, 1,
     [](Scene& s, const Action& /*a*/) { s.world().generators[1].advance(); }},
};

}  // namespace

std::span<const Rule> outside_rules() {
  return kRules;
}

}  // namespace neap::steps
