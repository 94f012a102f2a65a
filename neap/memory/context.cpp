// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/context.hpp"

namespace neap::memory {
namespace {

Context& current_context() noexcept {
  static constinit thread_local Context instance;
  return instance;
}

}  // namespace

const Context& context() noexcept {
  return current_context();
}

Context& ContextGuard::current() noexcept {
  return current_context();
}

Domain& domain() noexcept {
  Domain* chosen = current_context().domain;
  return chosen != nullptr ? *chosen : default_domain();
}

Bytes trim() noexcept {
  return domain().trim();
}

Tag current_tag(Category category, base::SiteId site, SpaceId space) noexcept {
  const Context& c = current_context();
  return {.category = c.category != Category::kOther ? c.category : category,
          .space = space,
          .owner = c.owner,
          .site = c.site.value != 0 ? c.site : site};
}

}  // namespace neap::memory
