// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ScopeMember: an object that a memory::Scope can release: base of a tensor's
// body and of a Composite. A member is in at most one list: that of a scope,
// that of the gradients of leaves (which no scope has), or, while TrackHandles
// is on, the list of all other members. Lists link the members themselves:
// nothing here allocates or fails.
//
// Thread rule: one lock guards all lists, so that members may die in any thread
// at any moment. A member that no list has takes no lock.
#pragma once

#include <atomic>
#include <span>
#include <utility>

#include "neap/memory/containers.hpp"

namespace neap::memory {

class MemberList;
class MemberRef;
class Scope;

/// A member's link in a list; for MemberList and Membership.
struct MemberLink {
  MemberLink* next = nullptr;
  MemberLink* previous = nullptr;
  std::atomic<MemberList*> member_of{nullptr};  // the list that it is in
  // Created within OutsideScopes, and in no scope or composite since.
  bool is_outside_scopes = false;
};

class NEAP_API ScopeMember : public MemberLink {
 public:
  ScopeMember(const ScopeMember&) = delete;
  ScopeMember& operator=(const ScopeMember&) = delete;

  // --- for scopes, composites and reports ----------------------------------

  /// Takes a reference unless the member is dying; drop() releases it.
  virtual bool try_hold() noexcept = 0;
  virtual void drop() noexcept = 0;
  /// True when one reference is left.
  virtual bool is_held_once() const noexcept = 0;
  /// Drops what the handles mean; they are undefined from now on. Returns the
  /// bytes that were counted for it. REQUIRES: in no list, not revoked.
  virtual Bytes revoke(base::SiteId scope) noexcept = 0;
  virtual bool is_revoked() const noexcept = 0;
  /// Created while a step was traced, by the step.
  virtual bool is_of_trace() const noexcept = 0;
  /// The parts of a composite; others have none.
  virtual std::span<const MemberRef> parts() const noexcept;

 protected:
  ScopeMember() noexcept = default;
  ~ScopeMember() = default;

  /// A new member: it joins the context's scope and is counted.
  void enter(Bytes bytes) noexcept;
  /// The end of a member that was not revoked, in whatever thread.
  void leave(Bytes bytes) noexcept;
};

/// A reference to a member.
class MemberRef {
 public:
  /// Takes over a reference from try_hold().
  static MemberRef adopt(ScopeMember& member) noexcept {
    MemberRef ref;
    ref.member_ = &member;
    return ref;
  }
  MemberRef() = default;
  MemberRef(MemberRef&& other) noexcept
      : member_(std::exchange(other.member_, nullptr)) {}
  MemberRef& operator=(MemberRef&& other) noexcept {
    std::swap(member_, other.member_);
    return *this;
  }
  MemberRef(const MemberRef&) = delete;
  MemberRef& operator=(const MemberRef&) = delete;
  ~MemberRef() {
    if (member_ != nullptr) {
      member_->drop();
    }
  }
  ScopeMember& operator*() const noexcept { return *member_; }
  ScopeMember* operator->() const noexcept { return member_; }

 private:
  ScopeMember* member_ = nullptr;
};

inline std::span<const MemberRef> ScopeMember::parts() const noexcept {
  return {};
}

/// While one of these lives, tensors that are created outside of any scope are
/// listed too (in every thread), so that a report can name what is alive.
class NEAP_API TrackHandles {
 public:
  TrackHandles() noexcept;
  ~TrackHandles();
  TrackHandles(const TrackHandles&) = delete;
  TrackHandles& operator=(const TrackHandles&) = delete;
};

/// Is shown members at one instant, whatever other threads do: nobody can
/// revoke them, or change what they mean, while they are shown.
class MemberVisitor {
 public:
  MemberVisitor() = default;
  virtual ~MemberVisitor() = default;
  MemberVisitor(const MemberVisitor&) = delete;
  MemberVisitor& operator=(const MemberVisitor&) = delete;
  /// Forgets what it was shown, and reserves capacity for `count` members. It
  /// may be called several times. THROWS: OutOfMemory.
  virtual void prepare(std::size_t count) = 0;
  /// The scope of a composite's part is nullptr. Must not allocate, nor end
  /// anything, nor wait.
  virtual void see(ScopeMember& member, const Scope* scope) noexcept = 0;
};

/// The members of all open scopes of all threads, latest scope first, then
/// those that TrackHandles lists. Each is held until the list ends, so that an
/// op given such a tensor as a temporary takes none over meanwhile. With a
/// visitor, which sees them all, the parts of composites follow.
/// THROWS: OutOfMemory.
NEAP_API Vector<MemberRef> live_members(MemberVisitor* visitor = nullptr);

/// Calls visitor(ScopeMember&) for each of live_members().
template <class Visitor>
void for_each_member(Visitor&& visitor) {
  const Vector<MemberRef> members = live_members();
  for (const MemberRef& member : members) {
    visitor(*member);
  }
}

}  // namespace neap::memory
