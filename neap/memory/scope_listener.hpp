// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ScopeListener: decides, while a step is traced, about what the step does to
// scopes and members that were there before it. No run would do that again, so
// the trace is refused; what is not done needs not be undone.
#pragma once

#include <cstdint>

#include "neap/base/api.hpp"

namespace neap::memory {

class Scope;
class ScopeMember;

class NEAP_API ScopeListener {
 public:
  ScopeListener() = default;
  virtual ~ScopeListener() = default;
  ScopeListener(const ScopeListener&) = delete;
  ScopeListener& operator=(const ScopeListener&) = delete;

  /// A scope releases a member of before the trace; it stays as it is.
  virtual void on_release() noexcept = 0;
  /// A composite of before goes into a scope, or out of one; it does not.
  virtual void on_move() noexcept = 0;
  /// A scope of before is closed, and stays open, or is destroyed.
  virtual void on_close(const Scope& scope) noexcept = 0;
  /// A composite of before is given a part, or another meaning; it stays as it
  /// is, unless it is destroyed.
  virtual void on_composite_change() noexcept = 0;
  /// The number of the trace's own composites has changed by `change`.
  virtual void count_composites(int change) noexcept = 0;
  /// The step asks which scope is current; or does something to `member` that
  /// depends on whether it is in a scope of before.
  virtual void on_asked(const ScopeMember* member) noexcept = 0;

  /// The listener of the current thread, or nullptr.
  static ScopeListener* current() noexcept;
  /// A number of its own for each time that one listens, and 0 for none: what
  /// was created meanwhile has it.
  static std::uint64_t trace_number() noexcept;
};

/// CompositeOrigin: the part of a Composite that knows whether it was there
/// before the trace that goes on.
class CompositeOrigin {
 public:
  CompositeOrigin() noexcept {
    if (number_ != 0) {
      ScopeListener::current()->count_composites(1);
    }
  }
  ~CompositeOrigin() {
    if (may_change() && ScopeListener::trace_number() != 0) {
      ScopeListener::current()->count_composites(-1);
    }
  }
  CompositeOrigin(const CompositeOrigin&) = delete;
  CompositeOrigin& operator=(const CompositeOrigin&) = delete;

  /// False for one of before in a step that is traced, which is told.
  bool may_change() const noexcept {
    ScopeListener* listener = ScopeListener::current();
    if (listener == nullptr || number_ == ScopeListener::trace_number()) {
      return true;
    }
    listener->on_composite_change();
    return false;
  }

 private:
  std::uint64_t number_ = ScopeListener::trace_number();
};

/// Whether a composite of before is about to move while somebody listens, who
/// is told; it must not then.
NEAP_API bool is_move_refused(const ScopeMember& member) noexcept;

/// Lets `listener` decide in this thread, for a block of code.
class NEAP_API HearScopes {
 public:
  explicit HearScopes(ScopeListener& listener) noexcept;
  ~HearScopes();
  HearScopes(const HearScopes&) = delete;
  HearScopes& operator=(const HearScopes&) = delete;

 private:
  ScopeListener* outer_;
  std::uint64_t outer_number_;
};

}  // namespace neap::memory
