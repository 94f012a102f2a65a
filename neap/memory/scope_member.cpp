// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/scope_member.hpp"

#include <algorithm>
#include <mutex>

#include "neap/memory/context.hpp"
#include "neap/memory/scope.hpp"
#include "neap/memory/scope_stats.hpp"

namespace neap::memory {

Membership& Membership::instance() noexcept {
  static constinit Membership instance;
  return instance;
}

void ScopeMember::enter(Bytes bytes) noexcept {
  Membership& all = Membership::instance();
  Scope* scope = Scope::innermost();
  is_outside_scopes = thread_context().is_outside_scopes;
  if (scope != nullptr || all.is_tracking()) {
    const std::lock_guard lock(all.lock);
    (scope != nullptr ? scope->members_ : all.loose).append(*this);
  }
  count_created(scope != nullptr, bytes);
}

void ScopeMember::leave(Bytes bytes) noexcept {
  MemberList::Kind kind = MemberList::Kind::kLoose;
  if (Membership::home_of(*this) != nullptr) {
    const std::lock_guard lock(Membership::instance().lock);
    // Its scope may have ended since.
    if (MemberList* list = Membership::home_of(*this)) {
      kind = list->kind();
      list->remove(*this);
    }
  }
  if (kind == MemberList::Kind::kParts) {
    count_part_released(bytes);
  } else {
    count_released(kind == MemberList::Kind::kScope, bytes);
  }
}

TrackHandles::TrackHandles() noexcept {
  Membership::instance().trackers.fetch_add(1, std::memory_order_relaxed);
}

TrackHandles::~TrackHandles() {
  Membership::instance().trackers.fetch_sub(1, std::memory_order_relaxed);
}

// Nothing may be asked for under the lock, and nothing may end: room is made
// before it, and again where the lists have grown meanwhile.
class MemberSnapshot {
 public:
  explicit MemberSnapshot(MemberVisitor* visitor) : visitor_(visitor) {}

  Vector<MemberRef> take() {
    for (std::size_t room = 0;;) {
      {
        const std::lock_guard lock(all_.lock);
        needed_ = 0;
        add_lists();
        add_parts();
        if (needed_ <= room) {
          return std::move(members_);
        }
      }
      // Parts that found no room may have parts of their own.
      room = std::max(needed_, 2 * room);
      members_.clear();
      members_.reserve(room);
      if (visitor_ != nullptr) {
        visitor_->prepare(room);
      }
    }
  }

 private:
  void add_lists() noexcept {
    const auto add_all = [this](const MemberList& list) {
      list.for_each([&](ScopeMember& member) { add(member, list.scope()); });
    };
    for (Scope* scope = all_.newest; scope != nullptr; scope = scope->older_) {
      add_all(scope->members_);
      add_all(scope->kept_);
    }
    add_all(all_.loose);
    add_all(all_.loose_gradients);
  }

  // The list is its own queue: parts may be composites.
  void add_parts() noexcept {
    for (std::size_t i = 0; visitor_ != nullptr && i < members_.size(); ++i) {
      for (const MemberRef& part : members_[i]->parts()) {
        add(*part, nullptr);
      }
    }
  }

  void add(ScopeMember& member, const Scope* scope) noexcept {
    if (++needed_ > members_.capacity() || !member.try_hold()) {
      return;
    }
    members_.push_back(MemberRef::adopt(member));
    if (visitor_ != nullptr) {
      visitor_->see(member, scope);
    }
  }

  Membership& all_ = Membership::instance();
  MemberVisitor* visitor_;
  Vector<MemberRef> members_;
  std::size_t needed_ = 0;
};

Vector<MemberRef> live_members(MemberVisitor* visitor) {
  ScopeListener::tell_of_figures("live_members");
  return MemberSnapshot(visitor).take();
}

}  // namespace neap::memory
