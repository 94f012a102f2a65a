// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/scope.hpp"

#include <atomic>
#include <mutex>

#include "neap/memory/scope_stats.hpp"

namespace neap::memory {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a guard's
constinit thread_local ScopeListener* scope_listener = nullptr;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): likewise
constinit thread_local std::uint64_t listening = 0;

std::uint64_t next_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Tells who traces a step that it releases what was there before.
bool is_refused(const ScopeMember& member) noexcept {
  if (scope_listener == nullptr || member.is_of_trace()) {
    return false;
  }
  scope_listener->on_release();
  return true;
}

// Moves a member that the caller holds, and counts what that means.
void move_to_list(Membership& all, ScopeMember& member,
                  MemberList* to) noexcept {
  const MemberList* home = Membership::home_of(member);
  if (Membership::is_part(home) || Membership::is_gradient(home)) {
    return;  // goes where its composite goes, or stays with its leaf
  }
  const bool was_inside = Membership::is_in_scope(home);
  const bool is_inside = Membership::is_in_scope(to);
  all.place(member, to);
  if (was_inside != is_inside) {
    (is_inside ? count_attached : count_detached)();
  }
}

// Moves a member on from a scope, to `outer` or to no scope; `is_outside`: the
// block that is then left was one of OutsideScopes.
void move_outward(Membership& all, ScopeMember& member, MemberList* outer,
                  bool is_outside) noexcept {
  move_to_list(all, member, outer);
  const MemberList* home = Membership::home_of(member);
  if (home == nullptr || home == &all.loose) {
    member.is_outside_scopes = is_outside;
  }
}

}  // namespace

ScopeListener* ScopeListener::current() noexcept {
  return scope_listener;
}

std::uint64_t ScopeListener::trace_number() noexcept {
  return listening;
}

// A tracer sees which scope holds a tensor, and may refuse the move.
bool is_move_refused(const ScopeMember& member) noexcept {
  if (scope_listener == nullptr || member.is_of_trace() ||
      member.parts().empty()) {
    return false;
  }
  scope_listener->on_move();
  return true;
}

HearScopes::HearScopes(ScopeListener* listener) noexcept
    : outer_(std::exchange(scope_listener, listener)),
      outer_number_(
          std::exchange(listening, listener != nullptr ? next_number() : 0)) {}

HearScopes::~HearScopes() {
  scope_listener = outer_;
  listening = outer_number_;
}

Scope* Scope::current() noexcept {
  if (scope_listener != nullptr) {
    scope_listener->on_asked(nullptr, true);
  }
  return innermost();
}

// A scope of the step's own does the same to what is in none of its own,
// wherever that is.
void Scope::tell(const ScopeMember& member) const noexcept {
  if (scope_listener != nullptr && !is_of_trace()) {
    scope_listener->on_asked(&member, true);
  }
}

Scope::Scope(CallSite site) noexcept
    : outer_(thread_context().scope), site_(base::intern(site)) {
  guard_.emplace([this](Context& c) {
    c.scope = this;
    c.is_outside_scopes = false;
  });
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  older_ = std::exchange(all.newest, this);
}

Scope::~Scope() {
  if (is_open_ && scope_listener != nullptr && !is_of_trace()) {
    scope_listener->on_close(*this);
  }
  end();
}

void Scope::close() noexcept {
  if (is_open_ && scope_listener != nullptr && !is_of_trace()) {
    scope_listener->on_close(*this);
    return;
  }
  end();
}

void Scope::end() noexcept {
  if (!is_open_) {
    return;
  }
  release_all();
  is_open_ = false;
  Scope* outer = open_outer();
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  for (MemberList* left : {&kept_, &members_}) {  // members: those refused
    while (ScopeMember* member = left->newest()) {
      move_outward(all, *member, outer != nullptr ? &outer->members_ : nullptr,
                   is_outside_);
    }
  }
  Scope** link = &all.newest;
  while (*link != this) {
    link = &(*link)->older_;
  }
  *link = older_;
}

// Whatever else a scope of before has at the next call would be released then.
void Scope::release_all() noexcept {
  if (scope_listener != nullptr && !is_of_trace()) {
    scope_listener->on_release();
  }
  MemberList refused(MemberList::Kind::kScope, this);
  while (revoke_newest(refused)) {
  }
  if (scope_listener != nullptr) {
    take_back(refused);
  }
}

// The lock is not held while a member is revoked: that may end graphs, other
// members, and memory that a user lent.
bool Scope::revoke_newest(MemberList& refused) noexcept {
  MemberRef held;
  {
    const std::lock_guard lock(Membership::instance().lock);
    ScopeMember* member = members_.newest();
    if (member == nullptr) {
      return false;
    }
    const bool is_alive = member->try_hold();  // before it leaves the list
    members_.remove(*member);
    if (!is_alive) {
      return true;
    }
    held = MemberRef::adopt(*member);
  }
  if (is_refused(*held)) {
    const std::lock_guard lock(Membership::instance().lock);
    refused.append(*held);
    return true;
  }
  count_released(true, held->revoke(site_));
  return true;
}

// A scope that the step opened itself has what the step puts there.
void Scope::ask(const ScopeQuestion& question) {
  const bool is_own =
      question.scope != nullptr && question.scope->is_of_trace();
  if (scope_listener != nullptr && !is_own) {
    scope_listener->on_question(question);
  }
}

bool Scope::is_open(const CallSite& site) const {
  ask({ScopeQuestion::What::kIsOpen, this, nullptr, base::intern(site)});
  return is_open_;
}

std::optional<base::SiteId> Scope::end_those_of_trace() noexcept {
  Membership& all = Membership::instance();
  const auto find = [&]() -> Scope* {
    const std::lock_guard lock(all.lock);
    Scope* scope = listening != 0 ? all.newest : nullptr;
    while (scope != nullptr && scope->trace_ != listening) {
      scope = scope->older_;
    }
    return scope;
  };
  const auto is_listed = [&](const Scope* wanted) {
    const std::lock_guard lock(all.lock);
    const Scope* scope = all.newest;
    while (scope != nullptr && scope != wanted) {
      scope = scope->older_;
    }
    return scope != nullptr;
  };
  std::optional<base::SiteId> last;
  while (Scope* scope = find()) {  // the newest first
    last = scope->site_;
    // A scope around it that was destroyed in the meantime is in no list.
    Scope* const outer = scope->outer_;
    if (!is_listed(outer)) {
      scope->outer_ = nullptr;
    }
    scope->end();
    // The context is another one by now where a guard that was there when the
    // scope was opened has ended, which has put it back already.
    Context now = thread_context();
    if (now.scope == scope) {
      now.scope = outer;
      now.is_outside_scopes = outer == nullptr && scope->is_outside_;
    }
    scope->guard_.reset();
    const_cast<Context&>(thread_context()) = now;  // NOLINT: the guard's way
  }
  return last;
}

// True for one of the open scopes of this thread, one inside the other.
bool Scope::is_around() const noexcept {
  const Scope* scope = thread_context().scope;
  while (scope != nullptr && scope != this) {
    scope = scope->outer_;
  }
  return is_open_ && scope == this;
}

// A guard sees which scopes are open, and the lines where they were opened.
base::SiteId Scope::site(const CallSite& site) const {
  if (scope_listener != nullptr && is_around() && !is_of_trace()) {
    scope_listener->on_asked(nullptr, true);
  } else {
    ask({ScopeQuestion::What::kSite, this, nullptr, base::intern(site)});
  }
  return site_;
}

std::int64_t Scope::size(const CallSite& site) const {
  ask({ScopeQuestion::What::kSize, this, nullptr, base::intern(site)});
  const std::lock_guard lock(Membership::instance().lock);
  return members_.size() + kept_.size();
}

const Scope* Scope::scope_of(const ScopeMember& member) noexcept {
  const std::lock_guard lock(Membership::instance().lock);
  const MemberList* home = Membership::home_of(member);
  return home != nullptr ? home->scope() : nullptr;
}

const Scope* Scope::of(const ScopeMember& member, const CallSite& site) {
  const Scope* scope = scope_of(member);
  ask({ScopeQuestion::What::kOf, scope, &member, base::intern(site)});
  return scope;
}

bool Scope::keeps(const ScopeMember& member, const CallSite& site) const {
  ask({ScopeQuestion::What::kKeeps, this, &member, base::intern(site)});
  return Membership::home_of(member) == &kept_;
}

std::uint64_t Scope::nest() noexcept {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t number = 0;
  for (const Scope* scope = thread_context().scope; scope != nullptr;
       scope = scope->outer_) {
    if (scope->is_open_) {
      const auto address = reinterpret_cast<std::uintptr_t>(scope);
      number = (number ^ address ^ (scope->site_.value + 1U)) * kFactor;
      number ^= number >> 32U;
    }
  }
  return number;
}

Scope* Scope::open_outer() const noexcept {
  Scope* scope = outer_;
  while (scope != nullptr && !scope->is_open_) {
    scope = scope->outer_;
  }
  return scope;
}

// True for a list of this scope or of one inside it.
bool Scope::has(const MemberList* home) const noexcept {
  const Scope* scope = home != nullptr ? home->scope() : nullptr;
  while (scope != nullptr && scope != this) {
    scope = scope->outer_;
  }
  return scope != nullptr;
}

void Scope::keep_member(ScopeMember& member) noexcept {
  tell(member);
  const MemberList* at = Membership::home_of(member);
  if (!has(at) || (at != &kept_ && is_move_refused(member))) {
    return;
  }
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  if (has(Membership::home_of(member))) {
    all.place(member, &kept_);
  }
}

void Scope::move_member_to_outer(ScopeMember& member) noexcept {
  tell(member);
  if (!has(Membership::home_of(member)) || is_move_refused(member)) {
    return;
  }
  Scope* outer = open_outer();
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  if (has(Membership::home_of(member))) {
    move_outward(all, member, outer != nullptr ? &outer->members_ : nullptr,
                 is_outside_);
  }
}

void Scope::attach_member(ScopeMember& member) noexcept {
  if (scope_listener != nullptr) {
    scope_listener->on_asked(&member, !is_of_trace());
  }
  take_in(member);
}

void Scope::take_in(ScopeMember& member) noexcept {
  Scope* target = is_open_ ? this : open_outer();
  if (scope_of(member) != target && is_move_refused(member)) {
    return;
  }
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  const MemberList* home = Membership::home_of(member);
  if (home == nullptr || home->scope() == nullptr || home->scope() != target) {
    move_outward(all, member, target != nullptr ? &target->members_ : nullptr,
                 is_outside_);
  }
}

void Scope::join_member(ScopeMember& member) noexcept {
  if (Scope* scope = innermost()) {
    if (scope_listener != nullptr && !scope->is_of_trace()) {
      scope_listener->on_asked(&member, false);
    }
    scope->take_in(member);
    return;
  }
  const std::lock_guard lock(Membership::instance().lock);
  member.is_outside_scopes = thread_context().is_outside_scopes;
}

void Scope::detach_member(ScopeMember& member) noexcept {
  if (scope_listener != nullptr) {
    scope_listener->on_asked(&member, false);
  }
  if (Membership::home_of(member) == nullptr) {
    return;  // what modules and optimizers mostly see
  }
  if (is_move_refused(member)) {
    return;
  }
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  move_to_list(all, member, nullptr);
}

const MemberList* Scope::home_of(const ScopeMember& member) noexcept {
  const std::lock_guard lock(Membership::instance().lock);
  const MemberList* home = Membership::home_of(member);
  return Membership::is_in_scope(home) || Membership::is_part(home) ? home
                                                                    : nullptr;
}

// The list, if it is there; scopes may have ended.
MemberList* Scope::find_list(const MemberList* home) noexcept {
  Membership& all = Membership::instance();
  for (MemberList* parts : {&all.parts, &all.shared_parts}) {
    if (parts == home) {
      return parts;
    }
  }
  for (Scope* scope = all.newest; scope != nullptr; scope = scope->older_) {
    for (MemberList* own : {&scope->members_, &scope->kept_}) {
      if (own == home) {
        return own;
      }
    }
  }
  return nullptr;
}

void Scope::put_back(ScopeMember& member, const MemberList* home) noexcept {
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  MemberList* to = find_list(home);
  const MemberList* from = Membership::home_of(member);
  const bool was_inside = Membership::is_in_scope(from);
  const bool was_part = Membership::is_part(from);
  all.place(member, to);
  if (was_inside != Membership::is_in_scope(to)) {
    (was_inside ? count_detached : count_attached)();
  }
  if (was_part != Membership::is_part(to)) {
    count_absorbed(was_part ? -1 : 1);
  }
}

void Scope::begin_gradient(ScopeMember& member) noexcept {
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  move_to_list(all, member, nullptr);
  const MemberList* home = Membership::home_of(member);
  if (home == nullptr) {
    all.place(member, &all.gradients);
  } else if (home == &all.loose) {
    all.place(member, &all.loose_gradients);
  }
}

void Scope::end_gradient(ScopeMember& member) noexcept {
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  if (Membership::home_of(member) == &all.gradients) {
    all.gradients.remove(member);
  } else if (Membership::home_of(member) == &all.loose_gradients) {
    all.place(member, &all.loose);
  }
}

void Scope::release_member(ScopeMember& member) noexcept {
  Membership& all = Membership::instance();
  const bool is_here = has(Membership::home_of(member));
  if (is_here && is_refused(member)) {
    return;
  }
  tell(member);
  if (!is_here) {
    return;
  }
  {
    const std::lock_guard lock(all.lock);
    MemberList* home = Membership::home_of(member);
    if (!has(home)) {
      return;
    }
    home->remove(member);
  }
  count_released(true, member.revoke(site_));
}

void Scope::spare(ScopeMember& member, MemberList& spared) noexcept {
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  if (Membership::home_of(member) == &members_) {
    all.place(member, &spared);
  }
}

void Scope::take_back(MemberList& spared) noexcept {
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  while (ScopeMember* member = spared.newest()) {
    all.place(*member, &members_);
  }
}

}  // namespace neap::memory
