// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/scope_member.hpp"

#include <mutex>

#include "neap/memory/scope.hpp"
#include "neap/memory/scope_stats.hpp"

namespace neap::memory {

Membership& Membership::instance() noexcept {
  static constinit Membership instance;
  return instance;
}

void ScopeMember::enter(Bytes bytes) noexcept {
  Membership& all = Membership::instance();
  Scope* scope = Scope::current();
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

// Nothing may be asked for under the lock: room is made before it, and again
// where the lists have grown meanwhile.
Vector<MemberRef> live_members() {
  Membership& all = Membership::instance();
  const auto for_each_list = [&all](const auto& visit) {
    for (Scope* scope = all.newest; scope != nullptr; scope = scope->older_) {
      visit(scope->members_);
      visit(scope->kept_);
    }
    visit(all.loose);
  };
  Vector<MemberRef> members;
  for (;;) {
    std::size_t count = 0;
    {
      const std::lock_guard lock(all.lock);
      for_each_list([&count](const MemberList& list) {
        count += static_cast<std::size_t>(list.size());
      });
      if (count <= members.capacity()) {
        for_each_list([&members](const MemberList& list) {
          list.for_each([&members](ScopeMember& member) {
            if (member.try_hold()) {
              members.push_back(MemberRef::adopt(member));
            }
          });
        });
        return members;
      }
    }
    members.reserve(count);
  }
}

}  // namespace neap::memory
