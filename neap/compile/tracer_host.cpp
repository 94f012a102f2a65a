// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The host's state that a traced step reads or sets: flags, listeners, leaves
// and their gradients, handle objects.
#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/compile/tracer.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {

using base::raise;

namespace {

void refuse_removal(const graph::Hook& hook, base::SiteId step) {
  raise<TraceError>(
      "remove: the step traced at {} removes the hook registered at {}, which "
      "a run would not repeat; remove it outside",
      base::format_site(step), base::format_site(hook.site()));
}

void refuse_revoke(base::SiteId step) {
  raise<TraceError>(
      "scope: the step traced at {} releases a tensor that existed before it, "
      "which a run would not repeat; release it outside",
      base::format_site(step));
}

void refuse_move(base::SiteId step) {
  raise<TraceError>(
      "scope: the step traced at {} moves a composite that existed before it "
      "into a scope or out of one, which a run would not repeat; do it outside",
      base::format_site(step));
}

void refuse_argument_move(std::size_t i, base::SiteId step) {
  raise<TraceError>(
      "scope: the step traced at {} moves argument {}, which is of another "
      "scope than that around the call, or keeps or releases it there; do it "
      "outside",
      base::format_site(step), i);
}

void refuse_composite_change(base::SiteId step) {
  raise<TraceError>(
      "scope: the step traced at {} changes a composite that existed before it "
      "(gives it a part, assigns to it, moves from it or destroys it), which a "
      "run would not repeat; do it outside",
      base::format_site(step));
}

void refuse_module_move(base::SiteId step) {
  raise<TraceError>(
      "module: the step traced at {} moves, swaps, assigns over or destroys a "
      "module that existed before it, which a run would not repeat; do it "
      "outside",
      base::format_site(step));
}

void refuse_close(const memory::Scope& scope, base::SiteId step) {
  raise<TraceError>(
      "scope: the step traced at {} closes the scope opened before it at {}, "
      "which a run would not repeat; do it outside",
      base::format_site(step), base::format_site(scope.opened_at()));
}

void refuse_end(base::SiteId step) {
  raise<TraceError>(
      "trace: the step traced at {} destroys a tensor that existed before it "
      "(in a container that shrinks), which a run would not repeat; do it "
      "outside, or assign to the handle",
      base::format_site(step));
}

}  // namespace

// The entry for `key`, which is `entry` where there was none. THROWS:
// OutOfMemory, with nothing added.
template <class Entry>
Entry& Tracer::find_or_add(Places& places, memory::Vector<Entry>& all,
                           const void* key, Entry entry) {
  const auto found = places.find(key);
  if (found != places.end()) {
    return all[found->second];
  }
  all.push_back(std::move(entry));
  try {
    places.emplace(key, all.size() - 1);
  } catch (...) {
    all.pop_back();
    throw;
  }
  return all.back();
}

// REQUIRES: for a new one, that `flag` was not set by the step yet.
Flag& Tracer::flag_of(const bool& flag, base::AnyRef owner) {
  return find_or_add(flag_places_, program_.flags, &flag,
                     {.flag = &flag, .value = flag, .owner = std::move(owner)});
}

void Tracer::depends_on(const bool& flag, base::AnyRef owner) {
  const Inside inside(*this);
  const Flag& known = flag_of(flag, std::move(owner));
  if (known.is_set == nullptr && known.value != flag) {
    raise<TraceError>(
        "trace: the step traced at {} changes a setting that it depends on and "
        "that a program cannot set; change it outside of the step",
        base::format_site(site_));
  }
}

bool Tracer::on_flag_change(bool& flag, base::AnyRef owner) noexcept {
  return note_quietly([&] { flag_of(flag, std::move(owner)).is_set = &flag; });
}

void Tracer::depends_on_generation(const std::uint32_t& generation,
                                   base::AnyRef owner) noexcept {
  note_quietly([&] {
    find_or_add(generation_places_, program_.generations, &generation,
                {&generation, generation, std::move(owner)});
  });
}

void Tracer::listen(graph::RunListener& listener) {
  for (Listening& known : program_.listeners) {
    if (known.listener == &listener) {
      ++known.calls;
      return;
    }
  }
  program_.listeners.push_back({&listener, 1});
}

void Tracer::on_grad_read(graph::Leaf& leaf) {
  const Inside inside(*this);
  leaves_.on_read(leaf);
}

bool Tracer::on_grad_change(graph::Leaf& leaf) noexcept {
  return note_quietly([&] { leaves_.on_change(leaf); });
}

bool Tracer::on_mode_change(graph::Leaf& leaf) noexcept {
  return note_quietly([&] { leaves_.on_mode_change(leaf); });
}

void Tracer::on_hooks(graph::Leaf& leaf) {
  const Inside inside(*this);
  leaves_.on_use(leaf);
}

void Tracer::on_hook_removal(const graph::Hook& hook) noexcept {
  note_quietly([&] { refuse_removal(hook, site_); });
}

void Tracer::on_module_move() noexcept {
  note_quietly([&] { refuse_module_move(site_); });
}

// A handle that begins while the trace is undone is not the step's. No memory
// is asked for it, since nobody could be told of a refusal.
void Tracer::on_handle_begin(const Tensor& handle) noexcept {
  if (is_restored_) {
    return;
  }
  const bool is_of_step = inside_ == 0;
  note_quietly([&] {
    is_of_step ? handles_.on_begin(handle) : handles_.on_filled(handle);
  });
}

void Tracer::on_handle_filled(const Tensor& handle) noexcept {
  if (!is_restored_) {
    note_quietly([&] { handles_.on_filled(handle); });
  }
}

void Tracer::on_handle_change(const Tensor& handle) noexcept {
  if (inside_ == 0 && !note_quietly([&] { handles_.on_change(handle); })) {
    handles_.spare(handle);
  }
}

void Tracer::on_handle_taken(const Tensor& handle) noexcept {
  if (inside_ == 0 && !note_quietly([&] { handles_.on_taken(handle); })) {
    handles_.spare(handle);
  }
}

void Tracer::on_handle_asked(const Tensor& handle,
                             tensor::Question question) noexcept {
  if (inside_ != 0) {
    return;
  }
  note_question(handle, question);
  note_quietly([&] {
    handles_.on_read(handle);
    if (question != tensor::Question::kMeaning) {
      handles_.on_place_asked(handle);
    }
    const base::Ref<tensor::Body>& body = handle.shared();
    if (body && body->link() && body->link()->is_leaf()) {
      leaves_.on_use(static_cast<graph::Leaf&>(*body->link()));
    }
  });
}

// An argument has no place in the graph in the trace, and may have one in a
// call.
void Tracer::note_question(const Tensor& handle,
                           tensor::Question question) noexcept {
  const base::Ref<tensor::Body>& body = handle.shared();
  // With a place, it is one that the step itself gave it.
  if (question == tensor::Question::kMeaning || !body || body->link() ||
      std::ranges::find(arguments_, body->array().get()) == arguments_.end()) {
    return;
  }
  GraphQuestions& asked = program_.asked_of_arguments;
  asked.requires_grad |= question == tensor::Question::kRequiresGrad;
  asked.is_leaf |= question == tensor::Question::kIsLeaf;
  asked.grad |= question == tensor::Question::kGrad;
}

// A step called under NoGrad that enables gradients records what it does with
// an argument, if that requires one.
void Tracer::note_recording(const graph::OpCall& call) noexcept {
  if (is_grad_enabled_ || !tensor::thread_execution().grad_enabled) {
    return;
  }
  for (const neap::Operand& input : call.inputs) {
    note_question(input.tensor(), tensor::Question::kRequiresGrad);
  }
}

void Tracer::on_handle_end(const Tensor& handle) noexcept {
  if (handles_.on_end(handle) && inside_ == 0) {
    note_quietly([&] { refuse_end(site_); });
  }
}

// A body that no memory is left to note stays revoked.
void Tracer::on_revoke(tensor::Body& body) noexcept {
  if (is_restored_ || body.is_of_trace()) {
    return;
  }
  note_quietly([&] {
    handles_.on_revoke(body);
    refuse_revoke(site_);
  });
}

void Tracer::on_release() noexcept {
  note_quietly([&] { refuse_revoke(site_); });
}

void Tracer::on_move() noexcept {
  note_quietly([&] { refuse_move(site_); });
}

void Tracer::on_close(const memory::Scope& scope) noexcept {
  note_quietly([&] { refuse_close(scope, site_); });
}

void Tracer::on_composite_change() noexcept {
  note_quietly([&] { refuse_composite_change(site_); });
}

// Something is done to `member` that depends on the scope it is of. A stand-in
// is in none for an argument of another scope than the call's.
void Tracer::note_place_of(const memory::ScopeMember& member) noexcept {
  const auto place = std::ranges::find(argument_members_, &member);
  if (place != argument_members_.end()) {
    const auto i = static_cast<std::size_t>(place - argument_members_.begin());
    if (places_[i] == ArgumentPlace::kElsewhere) {
      note_quietly([&] { refuse_argument_move(i, site_); });
    }
    return;
  }
  if (member.is_of_trace()) {
    return;
  }
  note_quietly([&] {
    if (!member.parts().empty()) {
      refuse_move(site_);
    }
    handles_.on_scope_asked(member);
  });
}

void Tracer::on_asked(const memory::ScopeMember* member,
                      bool is_by_scope) noexcept {
  if (inside_ != 0 || is_restored_) {
    return;
  }
  if (member != nullptr) {
    note_place_of(*member);
  }
  if (member != nullptr && member->is_of_trace()) {
    note_quietly([&] { note_left(*member); });
  }
  // The effect of a scope of before depends on which ones are open.
  program_.asks_which_scope = program_.asks_which_scope || is_by_scope;
  program_.asks_scopes =
      program_.asks_scopes || member == nullptr ||
      std::find(argument_members_.begin(), argument_members_.end(), member) !=
          argument_members_.end();
}

// True for an answer that holds in all runs that guards allow: those inside the
// same scopes.
bool Tracer::is_answer_guarded(
    const memory::ScopeQuestion& question) const noexcept {
  using What = memory::ScopeQuestion::What;
  const memory::ScopeMember* member = question.member;
  if (member == nullptr || !member->is_of_trace()) {
    return false;
  }
  const bool is_of_call = question.scope == around_;
  const auto place = std::ranges::find(argument_members_, member);
  if (place == argument_members_.end()) {
    return is_of_call ||
           (question.what == What::kOf && question.scope == nullptr);
  }
  // The stand-in of one of another scope is in none; and none is kept.
  const auto i = static_cast<std::size_t>(place - argument_members_.begin());
  return question.what == What::kOf && program_.outside[i] == 0 && is_of_call;
}

void Tracer::on_question(const memory::ScopeQuestion& question) {
  using What = memory::ScopeQuestion::What;
  if (inside_ != 0 || is_restored_) {
    return;
  }
  if (is_answer_guarded(question)) {
    program_.asks_scopes = true;
    program_.asks_which_scope = true;
    return;
  }
  switch (question.what) {
    case What::kOf:
      refuse_question("of", "which scope a tensor from outside it is of",
                      question.site);
      break;
    case What::kKeeps:
      refuse_question("keeps", "whether a scope keeps a tensor from outside it",
                      question.site);
      break;
    case What::kSize:
      refuse_question("size", "how many members a scope of before has",
                      question.site);
      break;
    case What::kSite:
      refuse_question("site", "where a scope was opened that is not around it",
                      question.site);
      break;
    case What::kIsOpen:
      refuse_question("is_open", "whether a scope of before is open",
                      question.site);
  }
}

void Tracer::on_composite_asked() noexcept {
  if (inside_ == 0 && !is_restored_) {
    note_quietly([&] {
      refuse_question("defined", "whether a composite of before is defined",
                      site_);
    });
  }
}

void Tracer::on_figures_asked(const char* function) noexcept {
  if (inside_ == 0 && !is_restored_) {
    note_quietly([&] {
      refuse_question(function, "for figures of the whole program", site_);
    });
  }
}

// An argument has a storage of its own in the trace, and may share one with
// whatever else was there before in a call.
void Tracer::on_alias_asked(const Tensor& a, const Tensor& b) noexcept {
  if (inside_ != 0 || !a.shared() || !a.shared()->array() || !b.shared() ||
      !b.shared()->array()) {
    return;
  }
  note_quietly([&] { handles_.on_alias_asked(a, b); });
  const auto origin_of = [&](const Tensor& tensor) {
    const StandIn* stand_in = StandIn::of(*tensor.shared()->array()->storage());
    return stand_in != nullptr ? program_[stand_in->value()].origin
                               : Origin::kExternal;
  };
  const Origin one = origin_of(a);
  const Origin other = origin_of(b);
  if ((one == Origin::kArgument && other != Origin::kCall) ||
      (other == Origin::kArgument && one != Origin::kCall)) {
    program_.asks_aliases =
        program_.asks_aliases ||
        a.shared()->array()->storage() != b.shared()->array()->storage();
  }
}

std::uint32_t Tracer::enter_segment(std::uint32_t segment) noexcept {
  return std::exchange(segment_, segment == kAnew ? ++last_segment_ : segment);
}

}  // namespace neap::compiler
