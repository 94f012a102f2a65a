// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/composite.hpp"

#include <algorithm>
#include <mutex>

#include "neap/base/raise.hpp"
#include "neap/memory/scope_stats.hpp"

namespace neap::memory {
namespace {

// A part counts by itself when another composite had it too, and has gone.
Bytes revoke_part(ScopeMember& part, base::SiteId scope) noexcept {
  MemberList::Kind kind = MemberList::Kind::kLoose;
  {
    const std::lock_guard lock(Membership::instance().lock);
    if (MemberList* home = Membership::home_of(part)) {
      kind = home->kind();
      home->remove(part);
    }
  }
  const Bytes bytes = part.revoke(scope);
  if (kind == MemberList::Kind::kParts) {
    return bytes;
  }
  count_released(kind == MemberList::Kind::kScope, bytes);
  return 0;
}

}  // namespace

base::Ref<CompositeBody> CompositeBody::make() {
  Tag tag = current_tag(Category::kGraph);
  tag.category = Category::kGraph;
  Domain& door = memory::domain();
  auto body = create(door, tag, 0, door, tag);
  body->enter(0);
  return body;
}

CompositeBody::~CompositeBody() {
  if (is_revoked_) {
    return;
  }
  give_parts_back();
  leave(0);
}

// Parts that somebody else holds come into the composite's place in its scope,
// which ends with it if they do not end before. Those of several composites do
// not: the others' scopes may go on for longer.
void CompositeBody::give_parts_back() noexcept {
  Membership& all = Membership::instance();
  const std::lock_guard lock(all.lock);
  MemberList* own = Membership::home_of(*this);
  MemberList* scope = Membership::is_in_scope(own) ? own : nullptr;
  for (const MemberRef& part : parts_) {
    const MemberList* home = Membership::home_of(*part);
    if (!part->is_held_once() && Membership::is_part(home)) {
      all.place(*part, home == &all.parts ? scope : nullptr);
      count_absorbed(-1);
    }
  }
}

// Reports look at the parts under the lock.
void CompositeBody::reserve(std::size_t count) {
  Vector<MemberRef> larger(parts_.get_allocator());
  larger.reserve(parts_.size() + count);
  const std::lock_guard lock(Membership::instance().lock);
  for (MemberRef& part : parts_) {
    larger.push_back(std::move(part));
  }
  parts_.swap(larger);
}

void CompositeBody::absorb(ScopeMember& part) noexcept {
  ScopeListener* listener = ScopeListener::current();
  if (listener != nullptr && !is_of_trace_) {
    listener->on_composite_change();
    return;
  }
  if (is_move_refused(part)) {
    return;
  }
  Membership& all = Membership::instance();
  if (!part.try_hold()) {
    return;
  }
  const auto is_it = [&](const MemberRef& own) { return &*own == &part; };
  MemberRef held = MemberRef::adopt(part);  // goes, if it does, after the lock
  const std::lock_guard lock(all.lock);
  if (Membership::is_gradient(Membership::home_of(part))) {
    return;
  }
  if (Membership::is_part(Membership::home_of(part))) {
    if (std::none_of(parts_.begin(), parts_.end(), is_it)) {
      all.place(part, &all.shared_parts);
    }
  } else {
    all.place(part, &all.parts);
    count_absorbed(1);
  }
  parts_.push_back(std::move(held));
}

Bytes CompositeBody::revoke(base::SiteId scope) noexcept {
  is_revoked_ = true;
  revoked_by_ = scope;
  Bytes bytes = 0;
  for (const MemberRef& part : parts_) {
    if (!part->is_revoked()) {
      bytes += revoke_part(*part, scope);
    }
  }
  parts_.clear();
  return bytes;
}

CompositeBody& Composite::body_with_room(std::size_t count) {
  base::Ref<CompositeBody> body = body_ ? body_ : CompositeBody::make();
  if (body->is_revoked()) {
    scope_member();
  }
  body->reserve(count);
  body_ = std::move(body);
  return *body_;
}

ScopeMember& Composite::scope_member() const {
  if (!body_) {
    base::raise<UseAfterRelease>("composite: used before its first part");
  }
  if (body_->is_revoked()) {
    base::raise<UseAfterRelease>(
        "composite: used after it was released by the scope opened at {}",
        base::format_site(body_->revoked_by()));
  }
  return *body_;
}

}  // namespace neap::memory
