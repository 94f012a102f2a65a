// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Arenas: one block of memory for each space, which all programs of a compiled
// step lie in, one at a time. Nothing in them outlasts a run but results, until
// the next. Not thread-safe.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "neap/compile/plan.hpp"

namespace neap::compiler {

/// The path that arenas are counted under.
inline constexpr std::string_view kArenaOwner = "compile.arena";

class NEAP_API Arenas {
 public:
  /// `lent`: the host's arena is the user's memory, and never another.
  /// THROWS: OutOfMemory.
  explicit Arenas(memory::Domain& domain, std::span<std::byte> lent = {});
  ~Arenas();
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  /// Sees to it that `plan` fits; true when a block was made. A block that must
  /// grow gives its memory back first, unless `is_in_use`: an arena may then be
  /// gone after a throw, and is made at the next call.
  /// THROWS: OutOfMemory; PlanError where lent memory is too small, or what is
  /// there unless `may_grow`.
  bool fit(const Plan& plan, bool is_in_use, bool may_grow);
  /// Whether it fits as it is. An arena that was not made yet has room.
  bool has_room(const Plan& plan) const noexcept;

  std::byte* base(memory::SpaceId space) const noexcept {
    return at(space).base;
  }
  Bytes capacity(memory::SpaceId space = memory::kHost) const noexcept {
    return at(space).capacity;
  }
  Bytes bytes() const noexcept;
  /// True for an address inside one of them.
  bool holds(const void* address) const noexcept;
  memory::Domain& domain() const noexcept { return domain_; }
  /// Gives everything back but lent memory.
  void let_go() noexcept;

 private:
  struct Arena {
    std::byte* base = nullptr;
    Bytes capacity = 0;
    memory::Block block{};
  };
  const Arena& at(memory::SpaceId space) const noexcept {
    return arenas_[space.value];
  }
  void grow(memory::SpaceId space, Bytes bytes, bool is_in_use);
  void let_go(Arena& arena) noexcept;
  void touch(const Arena& arena) const noexcept;

  memory::Domain& domain_;
  std::array<Arena, memory::kMaxSpaces> arenas_;
  std::span<std::byte> lent_;
  memory::Tag tag_;
};

}  // namespace neap::compiler
