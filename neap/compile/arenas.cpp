// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/arenas.hpp"

#include <memory>
#include <utility>

#include "neap/base/raise.hpp"

namespace neap::compiler {
namespace {

constexpr Bytes kPage = 4096;

}  // namespace

Arenas::Arenas(memory::Domain& domain, std::span<std::byte> lent)
    : domain_(domain), lent_(lent) {
  tag_.category = memory::Category::kActivations;
  tag_.owner = domain.owner(kArenaOwner);
  if (lent.empty()) {
    return;
  }
  domain.lend(static_cast<Bytes>(lent.size()), tag_);
  Arena& host = arenas_[memory::kHost.value];
  void* start = lent.data();
  std::size_t room = lent.size();
  if (std::align(static_cast<std::size_t>(kUnit), 1, start, room) != nullptr) {
    host.base = static_cast<std::byte*>(start);
    host.capacity = static_cast<Bytes>(room) / kUnit * kUnit;
  }
  touch(host);
}

Arenas::~Arenas() {
  let_go();
  if (!lent_.empty()) {
    domain_.unlend(static_cast<Bytes>(lent_.size()), tag_);
  }
}

bool Arenas::fit(const Plan& plan, bool is_in_use, bool may_grow) {
  bool has_grown = false;
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    const memory::SpaceId space{s};
    const Bytes bytes = plan.space(space).bytes;
    if (bytes <= at(space).capacity) {
      continue;
    }
    const bool is_lent = space == memory::kHost && !lent_.empty();
    if (is_lent || (!may_grow && at(space).capacity != 0)) {
      base::raise<PlanError>(
          "compile: the plan needs an arena of {}, and {} has {}",
          format_bytes(bytes),
          is_lent ? "the memory that was given" : "that of max_batch",
          format_bytes(at(space).capacity));
    }
    grow(space, bytes, is_in_use);
    has_grown = true;
  }
  return has_grown;
}

bool Arenas::has_room(const Plan& plan) const noexcept {
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    const memory::SpaceId space{s};
    const Bytes capacity = at(space).capacity;
    if (capacity != 0 && plan.space(space).bytes > capacity) {
      return false;
    }
  }
  return true;
}

void Arenas::grow(memory::SpaceId space, Bytes bytes, bool is_in_use) {
  Arena& arena = arenas_[space.value];
  if (!is_in_use) {
    let_go(arena);
  }
  memory::Tag tag = tag_;
  tag.space = space;
  const memory::Block block = domain_.allocate_elements(bytes, tag);
  let_go(arena);
  arena = {static_cast<std::byte*>(block.data), bytes, block};
  touch(arena);
}

// A page is mapped when it is first written to: here, not in the third run.
void Arenas::touch(const Arena& arena) const noexcept {
  const bool is_here = &arena == &arenas_[memory::kHost.value] &&
                       (!domain_.is_rehearsal() || arena.block.data == nullptr);
  for (Bytes at = 0; is_here && at < arena.capacity; at += kPage) {
    *static_cast<volatile std::byte*>(arena.base + at) = std::byte{0};
  }
}

void Arenas::let_go(Arena& arena) noexcept {
  const Arena old = std::exchange(arena, {});
  if (old.block.data != nullptr) {
    domain_.release(old.block);
  }
}

void Arenas::let_go() noexcept {
  for (Arena& arena : arenas_) {
    if (arena.block.data != nullptr) {
      let_go(arena);
    }
  }
}

Bytes Arenas::bytes() const noexcept {
  Bytes sum = 0;
  for (const Arena& arena : arenas_) {
    sum += arena.capacity;
  }
  return sum;
}

bool Arenas::holds(const void* address) const noexcept {
  const auto* byte = static_cast<const std::byte*>(address);
  for (const Arena& arena : arenas_) {
    if (arena.base != nullptr && byte >= arena.base &&
        byte < arena.base + arena.capacity) {
      return true;
    }
  }
  return false;
}

}  // namespace neap::compiler
