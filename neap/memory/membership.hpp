// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Membership: the lists behind scopes, and the one lock that guards them.
// Functions of both expect it locked.
#pragma once

#include "neap/base/spin_lock.hpp"
#include "neap/memory/scope_member.hpp"

namespace neap::memory {

class Scope;

/// A ring of members through a sentinel, oldest first.
class MemberList {
 public:
  enum class Kind : std::uint8_t {
    kScope,
    kLoose,      // members of no scope, listed by TrackHandles
    kParts,      // parts of a composite, counted with it; its ring stays empty
    kGradients,  // gradients of leaves: never in a scope; its ring stays empty
    kLooseGradients,  // loose gradients, listed by TrackHandles
  };

  constexpr explicit MemberList(Kind kind, Scope* scope = nullptr) noexcept
      : kind_(kind), scope_(scope) {
    ends_.next = &ends_;
    ends_.previous = &ends_;
  }
  MemberList(const MemberList&) = delete;
  MemberList& operator=(const MemberList&) = delete;

  Kind kind() const noexcept { return kind_; }
  Scope* scope() const noexcept { return scope_; }
  std::int64_t size() const noexcept { return size_; }

  void append(ScopeMember& member) noexcept {
    ++size_;
    if (has_ring()) {
      MemberLink& link = member;
      link.previous = ends_.previous;
      link.next = &ends_;
      ends_.previous->next = &link;
      ends_.previous = &link;
    }
    member.member_of.store(this, std::memory_order_release);
  }

  /// The member's `member_of` is cleared last: its own thread may end it then.
  void remove(ScopeMember& member) noexcept {
    --size_;
    if (has_ring()) {
      MemberLink& link = member;
      link.previous->next = link.next;
      link.next->previous = link.previous;
    }
    member.member_of.store(nullptr, std::memory_order_release);
  }

  ScopeMember* newest() const noexcept {
    return size_ == 0 ? nullptr : static_cast<ScopeMember*>(ends_.previous);
  }

  template <class Visitor>
  void for_each(const Visitor& visitor) const {
    for (MemberLink* at = ends_.next; at != &ends_; at = at->next) {
      visitor(static_cast<ScopeMember&>(*at));
    }
  }

 private:
  bool has_ring() const noexcept {
    return kind_ != Kind::kParts && kind_ != Kind::kGradients;
  }

  MemberLink ends_;
  std::int64_t size_ = 0;
  Kind kind_;
  Scope* scope_;
};

struct Membership {
  static Membership& instance() noexcept;

  static MemberList* home_of(const ScopeMember& member) noexcept {
    return member.member_of.load(std::memory_order_acquire);
  }
  static bool is_in_scope(const MemberList* home) noexcept {
    return home != nullptr && home->kind() == MemberList::Kind::kScope;
  }
  static bool is_part(const MemberList* home) noexcept {
    return home != nullptr && home->kind() == MemberList::Kind::kParts;
  }
  static bool is_gradient(const MemberList* home) noexcept {
    return home != nullptr &&
           (home->kind() == MemberList::Kind::kGradients ||
            home->kind() == MemberList::Kind::kLooseGradients);
  }
  bool is_tracking() const noexcept {
    return trackers.load(std::memory_order_relaxed) != 0;
  }

  /// Moves a member that the caller holds to `to`; nullptr: to no scope.
  /// Returns where it was.
  MemberList* place(ScopeMember& member, MemberList* to) noexcept {
    MemberList* from = home_of(member);
    member.is_outside_scopes = member.is_outside_scopes && to == nullptr;
    if (to == nullptr && is_tracking()) {
      to = &loose;
    }
    if (from != to) {
      if (from != nullptr) {
        from->remove(member);
      }
      if (to != nullptr) {
        to->append(member);
      }
    }
    return from;
  }

  base::SpinLock lock;
  MemberList loose{MemberList::Kind::kLoose};
  MemberList parts{MemberList::Kind::kParts};
  /// Parts of several composites.
  MemberList shared_parts{MemberList::Kind::kParts};
  MemberList gradients{MemberList::Kind::kGradients};
  MemberList loose_gradients{MemberList::Kind::kLooseGradients};
  /// Newest of all open scopes, linked by Scope::older_.
  Scope* newest = nullptr;
  std::atomic<int> trackers{0};
};

}  // namespace neap::memory
