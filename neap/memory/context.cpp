// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/context.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

namespace neap::memory {
namespace {

Context& current_context() noexcept {
  static constinit thread_local Context instance;
  return instance;
}

}  // namespace

const Context& context(const CallSite& site) noexcept {
  base::tell_of_question("context", "for whom the call allocates", site);
  return current_context();
}

const Context& thread_context() noexcept {
  return current_context();
}

Context& ContextGuard::current() noexcept {
  return current_context();
}

Domain& domain() noexcept {
  Domain* chosen = current_context().domain;
  return chosen != nullptr ? *chosen : default_domain();
}

Bytes trim(const CallSite& site) noexcept {
  base::tell_of_question("trim", "for figures of the whole program", site);
  return domain().trim();
}

Tag current_tag(Category category, base::SiteId site, SpaceId space) noexcept {
  const Context& c = current_context();
  const Category chosen =
      c.category != Category::kOther ? c.category : category;
  Tag tag{.category = chosen,
          .space = space,
          .owner = c.owner,
          .site = c.site.value != 0 ? c.site : site};
  // The same again in one word: a wide load of what was stored in parts, which
  // returning it is, would wait for the parts.
  if constexpr (std::endian::native == std::endian::little) {
    static_assert(offsetof(Tag, space) == 1 && offsetof(Tag, owner) == 4);
    const std::uint64_t word = static_cast<std::uint64_t>(chosen) |
                               std::uint64_t{space.value} << 8U |
                               std::uint64_t{c.owner.value} << 32U;
    std::memcpy(static_cast<void*>(&tag), &word, sizeof word);
  }
  return tag;
}

}  // namespace neap::memory
