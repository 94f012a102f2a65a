// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules about scopes: blocks of the step that are one, scopes around each call,
// and one that is open over several calls; and what escapes them.
#include "neap/memory/scope.hpp"

#include "neap/ops/ops.hpp"
#include "scene.hpp"

namespace neap::steps {
namespace {

// The current scope, for what is kept in it; null for a tensor that means
// nothing.
Scope* scope_for(const Tensor& tensor) {
  return tensor.defined() ? Scope::current() : nullptr;
}

constexpr Rule kRules[] = {
    {"scope", "#4", Theme::kScopes, 2, 0, nullptr,
     [](Scene& /*s*/, const Action& /*a*/, const Body& body) {
       const Scope scope("in a step");
       body();
     }},
    {"scope_kept", "#4", Theme::kScopes, 5, 0, nullptr,
     [](Scene& s, const Action& /*a*/, const Body& body) {
       Scope scope("in a step");
       body();
       for (const Tensor& value : s.registers()) {
         if (value.defined()) {
           scope.keep(value);
         }
       }
     }},
    {"scope_released", "#4 r", Theme::kScopes, 3, 0, nullptr,
     [](Scene& s, const Action& a, const Body& body) {
       Scope scope("in a step");
       body();
       if (s.get(a, 1).defined()) {
         scope.release_all_but(s.get(a, 1));
         scope.move_to_outer(s.get(a, 1));
       }
     }},
    {"outside", "#4", Theme::kScopes, 2, 0, nullptr,
     [](Scene& /*s*/, const Action& /*a*/, const Body& body) {
       const memory::OutsideScopes apart;
       body();
     }},
    {"keep_in_scope", "rahsv", Theme::kScopes, 3, 2,
     [](Scene& s, const Action& a) {
       if (Scope* scope = scope_for(s.get(a, 0))) {
         scope->keep(s.get(a, 0));
       }
     }},
    {"move_out", "rahsv", Theme::kScopes, 2, 1,
     [](Scene& s, const Action& a) {
       if (Scope* scope = scope_for(s.get(a, 0))) {
         scope->move_to_outer(s.get(a, 0));
       }
     }},
    {"leave_scopes", "rahsv", Theme::kScopes, 3, 2,
     [](Scene& s, const Action& a) { memory::detach_from_scope(s.get(a, 0)); }},
    {"enter_scope", "rh", Theme::kScopes, 1, 2,
     [](Scene& s, const Action& a) {
       if (Scope* scope = scope_for(s.get(a, 0))) {
         scope->attach(s.get(a, 0));
       }
     }},
    {"release", "r", Theme::kScopes, 1, 0,
     [](Scene& s, const Action& a) {
       if (Scope* scope = scope_for(s.get(a, 0))) {
         scope->release(s.get(a, 0));
       }
     }},
    {"if_in_scope", "r rahsv rahsv", Theme::kScopes, 3, 0,
     [](Scene& s, const Action& a) {
       const Tensor& asked = s.get(a, 2);
       take_turn(s, a,
                 asked.defined() && Scope::of(asked.scope_member()) != nullptr);
     }},
    {"if_in_current", "r rahsv rahsv", Theme::kScopes, 3, 0,
     [](Scene& s, const Action& a) {
       const Tensor& asked = s.get(a, 2);
       const Scope* current = scope_for(asked);
       take_turn(
           s, a,
           current != nullptr && Scope::of(asked.scope_member()) == current);
     }},
    {"if_of_calls", "r rahsv", Theme::kScopes, 3, 0,
     [](Scene& s, const Action& a) {
       const auto& over_calls = s.world().scope;
       const Scope* current = Scope::current();
       take_turn(s, a, current == (over_calls ? &*over_calls : nullptr));
     }},
    {"if_kept", "r rahsv rahsv", Theme::kScopes, 3, 0,
     [](Scene& s, const Action& a) {
       const Tensor& asked = s.get(a, 2);
       const Scope* current = scope_for(asked);
       take_turn(s, a,
                 current != nullptr && current->keeps(asked.scope_member()));
     }},
    {"if_many", "r rahsv #9", Theme::kScopes, 3, 0,
     [](Scene& s, const Action& a) {
       const Scope* current = Scope::current();
       take_turn(s, a,
                 current != nullptr && current->is_open() &&
                     current->size() > 4 * s.number(a, 2));
     }},
    {"open_scope", "", Theme::kScopes, 0, 4,
     [](Scene& s, const Action& /*a*/) { s.world().open_scope(); }},
    {"close_scope", "", Theme::kScopes, 0, 2,
     [](Scene& s, const Action& /*a*/) { s.world().close_scope(false); }},
    {"close_scope_kept", "", Theme::kScopes, 0, 3,
     [](Scene& s, const Action& /*a*/) { s.world().close_scope(true); }},
    {"scope_calls", "#3", Theme::kScopes, 0, 5,
     [](Scene& s, const Action& a) {
       s.world().around_calls = static_cast<World::Around>(s.number(a, 0));
     }},
};

}  // namespace

std::span<const Rule> scope_rules() {
  return kRules;
}

}  // namespace neap::steps
