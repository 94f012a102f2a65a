// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/context.hpp"

#include <cstddef>
#include <cstring>

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
  const Category chosen =
      c.category != Category::kOther ? c.category : category;
  // In one word: the caller's wide load of what was stored in parts would wait.
  const std::uint64_t first = static_cast<std::uint64_t>(chosen) |
                              std::uint64_t{space.value} << 8U |
                              std::uint64_t{c.owner.value} << 32U;
  Tag tag;
  static_assert(offsetof(Tag, space) == 1 && offsetof(Tag, owner) == 4);
  std::memcpy(static_cast<void*>(&tag), &first, sizeof first);
  tag.site = c.site.value != 0 ? c.site : site;
  return tag;
}

}  // namespace neap::memory
