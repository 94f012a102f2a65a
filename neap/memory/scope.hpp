// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Scope: a block of code whose tensors are released at its end.
//
//   Tensor step(const Tensor& x) {
//     neap::Scope scope("step");
//     const Tensor hidden = relu(x), y = sum(hidden);
//     return scope.keep(y);
//   }  // hidden is released, wherever a copy of its handle is; y is not
//
// Every tensor that this thread creates while the scope is the innermost open
// one is a member of it. At its end each member that was not kept is revoked:
// all copies of the handle become undefined, and any other question to one
// throws UseAfterRelease with the scope's name and line. A scope revokes
// handles, not bytes: elements and graph are freed with their last owner, so
// what a kept result still needs stays with it. Parameters, buffers, optimizer
// state and gradients of leaves are never members; neither are tensors of other
// threads.
//
// All calls are idempotent, and take tensors, composites and ranges of them.
// Thread rule: a scope is used by the thread that opened it. Handles to members
// may be dropped in any thread at any moment; a handle that another thread
// continues to use is kept or detached first.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>

#include "neap/memory/membership.hpp"
#include "neap/memory/scope_listener.hpp"

namespace neap::memory {

/// A handle to a member: Tensor, Composite, or a class derived from it.
template <class T>
concept ScopedHandle = requires(const T& t) {
  { t.scope_member() } -> std::same_as<ScopeMember&>;
};

template <class T>
concept ScopedRange = requires(const T& range) {
  std::begin(range) != std::end(range);
  requires ScopedHandle<std::remove_cvref_t<decltype(*std::begin(range))>>;
};

template <class T>
concept Scoped = ScopedHandle<T> || ScopedRange<T>;

/// defined(), of a composite without a question of the step's.
template <ScopedHandle T>
bool has_meaning(const T& handle) noexcept {
  if constexpr (requires { handle.has_meaning(); }) {
    return handle.has_meaning();
  } else {
    return handle.defined();
  }
}

class NEAP_API Scope {
 public:
  explicit Scope(CallSite site = CallSite::here()) noexcept;
  /// Named in errors and reports; `name` is a literal.
  template <std::size_t kLength>
  explicit Scope(const char (&name)[kLength],  // NOLINT(*-avoid-c-arrays)
                 CallSite site = CallSite::here()) noexcept
      : Scope(CallSite{site.file, &name[0], site.line}) {}
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  static void* operator new(std::size_t) = delete;
  static void* operator new[](std::size_t) = delete;

  // --- what outlives it; all THROW: UseAfterRelease for a handle that means
  // nothing, and then nothing has changed -----------------------------------

  /// Members stay counted here and move to the outer scope at the end (to none
  /// where there is none). Returns what it was given, several as a tuple. Other
  /// tensors than members of this scope or of one inside it are unchanged.
  template <Scoped... T>
  auto keep(const T&... items) {
    apply([this](ScopeMember& m) { keep_member(m); }, items...);
    if constexpr (sizeof...(T) == 1) {
      return std::get<0>(std::tuple<T...>(items...));
    } else {
      return std::tuple<T...>(items...);
    }
  }
  /// Moves items to the outer scope, as keep does, but at once.
  template <Scoped... T>
  void move_to_outer(const T&... items) {
    apply([this](ScopeMember& m) { move_member_to_outer(m); }, items...);
  }
  /// Makes `item` a member of `other`, wherever it was.
  template <Scoped T>
  void move_to(const T& item, Scope& other) {
    apply([&other](ScopeMember& m) { other.attach_member(m); }, item);
  }
  /// Makes them members of this scope, wherever they were.
  template <Scoped... T>
  void attach(const T&... items) {
    apply([this](ScopeMember& m) { attach_member(m); }, items...);
  }
  /// Makes them members of no scope, wherever they were.
  template <Scoped... T>
  void detach(const T&... items) {
    apply([](ScopeMember& m) { detach_member(m); }, items...);
  }

  // --- releasing before the end --------------------------------------------

  /// Releases members of this scope (or of one inside it) now, in whatever
  /// order. Other tensors, and undefined ones, are left alone.
  template <Scoped... T>
  void release(const T&... items) {
    (for_each(items, [this](const auto& item) { this->release_handle(item); }),
     ...);
  }
  /// Releases all members that were not kept.
  void release_all() noexcept;
  /// Releases all members but some, which stay members.
  template <Scoped... T>
  void release_all_but(const T&... items) {
    MemberList spared(MemberList::Kind::kScope, this);
    apply([&, this](ScopeMember& m) { spare(m, spared); }, items...);
    release_all();
    take_back(spared);
  }
  /// Ends it before its block does, also before a scope inside it: tensors that
  /// are created from then on belong to the next outer one.
  void close() noexcept;

  // --- what it is; all with a `site` THROW: TraceError in a step that is
  // traced, where the answer may be another in the next call of its program ---

  bool is_open(const CallSite& site = CallSite::here()) const;
  /// The number of members, kept ones too; a composite counts as one.
  std::int64_t size(const CallSite& site = CallSite::here()) const;
  /// The line of the scope; its name stands for the function.
  base::SiteId site(const CallSite& site = CallSite::here()) const;
  /// The same for the library, which is no question of a step's.
  base::SiteId opened_at() const noexcept { return site_; }
  /// Ends every scope that the trace of this thread has opened and that is
  /// still open, as if they had never been: the context is that of before.
  /// RETURNS: the line of one of them, if there was any.
  static std::optional<base::SiteId> end_those_of_trace() noexcept;

  /// The one that has `member`, kept or not, or nullptr.
  static const Scope* of(const ScopeMember& member,
                         const CallSite& site = CallSite::here());
  /// Whether `member` is kept here.
  bool keeps(const ScopeMember& member,
             const CallSite& site = CallSite::here()) const;
  /// The innermost open one of this thread, or nullptr.
  static Scope* current() noexcept;
  /// The same for the library, which is no question of a step's.
  static Scope* innermost() noexcept {
    Scope* scope = thread_context().scope;
    while (scope != nullptr && !scope->is_open_) {
      scope = scope->outer_;
    }
    return scope;
  }
  /// A number for the open scopes of this thread: another one where they are
  /// others, or were opened at other lines; 0: there is none.
  static std::uint64_t nest() noexcept;
  /// Makes a member one of no scope; for owners of handles such as modules and
  /// optimizers.
  static void detach_member(ScopeMember& member) noexcept;
  static void join_member(ScopeMember& member) noexcept;
  /// The list that a member is in, if it is one of a scope or that of parts of
  /// composites; nullptr: another, or none.
  static const MemberList* home_of(const ScopeMember& member) noexcept;
  /// Puts a member that has moved into `home` again, or into none where that is
  /// the list of a scope which has ended.
  static void put_back(ScopeMember& member, const MemberList* home) noexcept;
  /// Makes a member the gradient of a leaf: it leaves its scope, and joins no
  /// other scope and no composite until end_gradient(). A part of a composite
  /// stays one. For leaves alone. REQUIRES: held by the caller until then.
  static void begin_gradient(ScopeMember& member) noexcept;
  /// Undoes begin_gradient(): the member is of no scope, as any other may be.
  static void end_gradient(ScopeMember& member) noexcept;

 private:
  friend class ScopeMember;
  friend class MemberSnapshot;

  template <class T, class Action>
  static void for_each(const T& item, const Action& action) {
    if constexpr (ScopedHandle<T>) {
      action(item);
    } else {
      for (const auto& element : item) {
        action(element);
      }
    }
  }
  // All handles are checked first, which may throw.
  template <class Action, class... T>
  static void apply(const Action& action, const T&... items) {
    (for_each(items, [](const auto& item) { item.scope_member(); }), ...);
    (for_each(items, [&](const auto& item) { action(item.scope_member()); }),
     ...);
  }
  template <class T>
  void release_handle(const T& item) {
    if (has_meaning(item)) {
      release_member(item.scope_member());
    }
  }

  bool is_of_trace() const noexcept { return trace_ != 0; }
  bool is_around() const noexcept;
  void tell(const ScopeMember& member) const noexcept;
  static const Scope* scope_of(const ScopeMember& member) noexcept;
  static void ask(const ScopeQuestion& question);
  Scope* open_outer() const noexcept;
  static MemberList* find_list(const MemberList* home) noexcept;
  bool has(const MemberList* home) const noexcept;
  void keep_member(ScopeMember& member) noexcept;
  void move_member_to_outer(ScopeMember& member) noexcept;
  void attach_member(ScopeMember& member) noexcept;
  void take_in(ScopeMember& member) noexcept;
  void release_member(ScopeMember& member) noexcept;
  void spare(ScopeMember& member, MemberList& spared) noexcept;
  void take_back(MemberList& spared) noexcept;
  bool revoke_newest(MemberList& refused) noexcept;
  void end() noexcept;

  MemberList members_{MemberList::Kind::kScope, this};
  MemberList kept_{MemberList::Kind::kScope, this};
  Scope* outer_;            // outer scope of the same thread
  Scope* older_ = nullptr;  // the next older of all open ones, of any thread
  base::SiteId site_;
  bool is_open_ = true;
  // The outermost scope around is in a block of OutsideScopes.
  bool is_outside_ = outer_ != nullptr ? outer_->is_outside_
                                       : thread_context().is_outside_scopes;
  std::uint64_t trace_ = ScopeListener::trace_number();  // 0: of none
  std::optional<ContextGuard> guard_;
};

/// Tensors created inside the block belong to no scope.
class NEAP_API OutsideScopes : public ContextGuard {
 public:
  OutsideScopes()
      : ContextGuard([](Context& c) {
          c.scope = nullptr;
          c.is_outside_scopes = true;
        }) {}
};

/// Makes `handle` a member of the current scope, as if it were created here. In
/// no scope it stays where it is.
template <ScopedHandle T>
void join_current_scope(const T& handle) {
  if (has_meaning(handle)) {
    Scope::join_member(handle.scope_member());
  }
}

/// Makes `handle` a member of no scope, if it means anything.
template <ScopedHandle T>
void detach_from_scope(const T& handle) {
  if (has_meaning(handle)) {
    Scope::detach_member(handle.scope_member());
  }
}

}  // namespace neap::memory

namespace neap {
using memory::Scope;
}
