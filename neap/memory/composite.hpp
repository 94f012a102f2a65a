// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Composite: several tensors (or composites) that scopes treat as one. It is a
// value, as a tensor is: copies share what it means. Derive from it, or hold
// one:
//
//   struct Frame : neap::Composite {
//     Frame(Tensor image, Tensor mask) : image(image), mask(mask) {
//       absorb(image, mask);
//     }
//     Tensor image, mask;
//   };
//   ...
//   return scope.keep(frame);
//
// The parts leave their scopes, and the composite joins the current one: it
// counts as one, is kept and moved as one, and when it is revoked, all of its
// parts are. A part that outlives the composite replaces it in the scope, and
// counts by itself again; one that several composites had is of no scope. The
// gradient of a leaf stays with its leaf: a composite has none as a part.
#pragma once

#include "neap/memory/counted.hpp"
#include "neap/memory/scope.hpp"

namespace neap::memory {

class CompositeBody final : public ScopeMember, public Counted<CompositeBody> {
 public:
  /// A member of the context's scope. THROWS: OutOfMemory.
  static base::Ref<CompositeBody> make();

  // Created by make().
  CompositeBody(Domain& domain, const Tag& tag) noexcept
      : parts_(Allocator<MemberRef>(domain, tag)) {}
  ~CompositeBody();

  base::SiteId revoked_by() const noexcept { return revoked_by_; }
  /// The parts; other threads read them under the lock of the lists.
  std::span<const MemberRef> parts() const noexcept override { return parts_; }
  /// Reserves capacity for `count` more parts. THROWS: OutOfMemory.
  void reserve(std::size_t count);
  /// Adds a part; gradients of leaves are left alone. REQUIRES: capacity, a
  /// part that the caller holds.
  void absorb(ScopeMember& part) noexcept;

  bool try_hold() noexcept override { return try_acquire(); }
  void drop() noexcept override { release(); }
  bool is_held_once() const noexcept override { return is_unique(); }
  Bytes revoke(base::SiteId scope) noexcept override;
  bool is_revoked() const noexcept override { return is_revoked_; }
  bool is_of_trace() const noexcept override { return is_of_trace_; }

 private:
  void give_parts_back() noexcept;

  Vector<MemberRef> parts_;
  base::SiteId revoked_by_{};
  bool is_revoked_ = false;
  bool is_of_trace_ = ScopeListener::current() != nullptr;
};

class NEAP_API Composite {
 public:
  Composite() = default;  // has no parts, and is a member of no scope
  Composite(const Composite& other) noexcept : body_(other.body_) {}
  Composite(Composite&& other) noexcept : body_(other.taken()) {}
  Composite& operator=(const Composite& other) noexcept {
    if (may_change()) {
      body_ = other.body_;
    }
    return *this;
  }
  Composite& operator=(Composite&& other) noexcept {
    if (may_change()) {
      body_ = other.taken();
    }
    return *this;
  }
  template <Scoped... T>
  requires(sizeof...(T) > 0) explicit Composite(const T&... parts) {
    absorb(parts...);
  }

  /// Makes `parts` parts of this composite, all or (on a throw) none. The first
  /// call makes it a member of the current scope.
  /// THROWS: UseAfterRelease for an undefined part or a revoked composite,
  /// OutOfMemory.
  template <Scoped... T>
  void absorb(const T&... parts) {
    std::size_t count = 0;
    (for_each(parts, [&count](ScopeMember&) { ++count; }), ...);
    if (!may_change()) {
      return;
    }
    CompositeBody& body = body_with_room(count);
    (for_each(parts, [&body](ScopeMember& part) { body.absorb(part); }), ...);
  }

  /// False before the first part, and once a scope released it.
  bool defined() const noexcept {
    origin_.ask(body_ && !body_->is_of_trace());
    return has_meaning();
  }
  /// The same for the library, which is no question of a step's.
  bool has_meaning() const noexcept { return body_ && !body_->is_revoked(); }
  /// THROWS: UseAfterRelease unless defined.
  ScopeMember& scope_member() const;

 private:
  template <class T, class Action>
  static void for_each(const T& item, const Action& action) {
    if constexpr (ScopedHandle<T>) {
      action(item.scope_member());
    } else {
      for (const auto& element : item) {
        action(element.scope_member());
      }
    }
  }
  CompositeBody& body_with_room(std::size_t count);
  bool may_change() const noexcept { return origin_.may_change(); }
  // The meaning, moved on where this may lose it.
  base::Ref<CompositeBody> taken() noexcept {
    return may_change() ? std::move(body_) : body_;
  }

  base::Ref<CompositeBody> body_;
  CompositeOrigin origin_;
};

}  // namespace neap::memory

namespace neap {
using memory::Composite;
}
