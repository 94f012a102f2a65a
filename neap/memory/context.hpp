// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Context: for whom the current thread allocates: in which domain, under which
// owner, category and call site, and to which scope handles belong. It is a
// thread-local; how ops run is another (tensor/execution.hpp). Only guards
// change it, and every guard restores what it found.
#pragma once

#include "neap/base/outside.hpp"
#include "neap/memory/domain.hpp"

namespace neap::memory {

class Scope;

struct Context {
  Domain* domain = nullptr;              // nullptr: the default domain
  Category category = Category::kOther;  // kOther: the op's own choice
  OwnerId owner{};                       // owner in `domain`
  base::SiteId site{};                   // set: ops inherit it
  Scope* scope = nullptr;                // nullptr: handles belong to none
  bool is_outside_scopes = false;        // by OutsideScopes, wherever it is
};

/// The current thread's context, read-only. A step that is traced is refused
/// where it asks: the next call of its program may have another context.
NEAP_API const Context& context(
    const CallSite& site = CallSite::here()) noexcept;
/// The same for the library, which is no question of a step's.
NEAP_API const Context& thread_context() noexcept;

/// Changes the context for a block of code:
///   ContextGuard guard([&](Context& c) { c.owner = id; });
class NEAP_API ContextGuard {
 public:
  template <class Change>
  explicit ContextGuard(const Change& change) : outer_(current()) {
    change(current());
  }
  ~ContextGuard() { current() = outer_; }
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;
  static void* operator new(std::size_t) = delete;

 private:
  static Context& current() noexcept;
  Context outer_;
};

/// The domain that the current thread allocates from.
NEAP_API Domain& domain() noexcept;

/// Returns all idle pages of that domain to the system, in every space; the
/// result is how many bytes. stats().held is less by as much. A step that is
/// traced is refused.
NEAP_API Bytes trim(const CallSite& site = CallSite::here()) noexcept;

/// A tag from the context: its owner, its site or else `site`, and its category
/// or else `category`.
NEAP_API Tag current_tag(Category category, base::SiteId site = {},
                         SpaceId space = kHost) noexcept;

/// Makes `domain` the current thread's for a block of code. The owner path is
/// empty at first, since owners are numbered per domain.
class NEAP_API UseDomain : public ContextGuard {
 public:
  explicit UseDomain(Domain& domain)
      : ContextGuard([&](Context& c) {
          c.domain = &domain;
          c.owner = {};
        }) {}
};

}  // namespace neap::memory

namespace neap {
using memory::Domain;
using memory::UseDomain;
}  // namespace neap
