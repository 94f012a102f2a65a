// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ScopeListener: decides, while a step is traced, about what the step does to
// scopes and members that were there before it. No run would do that again, so
// the trace is refused; what is not done needs not be undone.
#pragma once

#include <cstdint>

#include "neap/base/api.hpp"
#include "neap/base/call_site.hpp"

namespace neap::memory {

class Scope;
class ScopeMember;

/// A question of a step's about a scope that was there before it, or about the
/// place of a member. Scopes that the step opened itself answer the same in
/// every run, and nobody is told.
struct ScopeQuestion {
  enum class What : std::uint8_t { kOf, kKeeps, kSize, kIsOpen, kSite };
  What what{};
  const Scope* scope = nullptr;  // that is asked, or (kOf) has the member
  const ScopeMember* member = nullptr;
  base::SiteId site{};
};

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
  /// depends on whether it is in a scope of before. `is_by_scope`: one of
  /// before does it, or is asked for, so that it matters which ones are open.
  virtual void on_asked(const ScopeMember* member,
                        bool is_by_scope) noexcept = 0;
  /// THROWS: TraceError where the answer may be another in a later run.
  virtual void on_question(const ScopeQuestion& question) = 0;
  /// The step asks whether a composite of before means anything.
  virtual void on_composite_asked() noexcept = 0;
  /// The step asks by `function` for what is counted beside it: figures of a
  /// domain, numbers of members.
  virtual void on_figures_asked(const char* function) noexcept = 0;

  /// The listener of the current thread, or nullptr.
  static ScopeListener* current() noexcept;
  /// A number of its own for each time that one listens, and 0 for none: what
  /// was created meanwhile has it.
  static std::uint64_t trace_number() noexcept;
  /// Tells the thread's listener, if there is one, of on_figures_asked().
  static void tell_of_figures(const char* function) noexcept {
    if (ScopeListener* listener = current()) {
      listener->on_figures_asked(function);
    }
  }
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

  /// Tells a step that is traced of its question about one of before, or about
  /// a copy of such a one.
  void ask(bool is_copy) const noexcept {
    ScopeListener* listener = ScopeListener::current();
    if (listener != nullptr &&
        (is_copy || number_ != ScopeListener::trace_number())) {
      listener->on_composite_asked();
    }
  }
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

/// Lets `listener` decide in this thread, for a block of code; nullptr: nobody,
/// where the library asks for what is no question of the step's.
class NEAP_API HearScopes {
 public:
  explicit HearScopes(ScopeListener* listener) noexcept;
  ~HearScopes();
  HearScopes(const HearScopes&) = delete;
  HearScopes& operator=(const HearScopes&) = delete;

 private:
  ScopeListener* outer_;
  std::uint64_t outer_number_;
};

}  // namespace neap::memory
