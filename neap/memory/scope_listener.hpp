// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ScopeListener: decides, while a step is traced, about what the step does to
// scopes and members that were there before it. No run would do that again, so
// the trace is refused; what is not done needs not be undone.
#pragma once

#include "neap/base/api.hpp"

namespace neap::memory {

class Scope;

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

  /// That of the current thread, or nullptr.
  static ScopeListener* current() noexcept;
};

/// Lets `listener` decide in this thread, for a block of code.
class NEAP_API HearScopes {
 public:
  explicit HearScopes(ScopeListener& listener) noexcept;
  ~HearScopes();
  HearScopes(const HearScopes&) = delete;
  HearScopes& operator=(const HearScopes&) = delete;

 private:
  ScopeListener* outer_;
};

}  // namespace neap::memory
