// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// AttrPool: the attributes of a program's calls, one after the other. It keeps
// what they own, and the ops that are counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neap/graph/op.hpp"
#include "neap/memory/containers.hpp"

namespace neap::compiler {

class AttrPool {
 public:
  AttrPool() = default;
  ~AttrPool() { let_go(); }
  AttrPool(const AttrPool& other);
  AttrPool& operator=(const AttrPool&) = delete;
  AttrPool(AttrPool&& other) noexcept = default;
  AttrPool& operator=(AttrPool&& other) noexcept;

  /// Copies attributes (by the op's own rule, where it has one; nullptr: of no
  /// op) and returns their offset. THROWS: OutOfMemory.
  std::uint32_t keep(const graph::Op* op, const graph::Attrs& attrs);

  void* at(std::uint32_t offset) noexcept { return units_.data() + offset; }
  const void* at(std::uint32_t offset) const noexcept {
    return units_.data() + offset;
  }
  Bytes bytes() const noexcept;

 private:
  struct alignas(16) Unit {
    std::byte bytes[16];  // NOLINT(*-avoid-c-arrays)
  };
  struct Kept {
    const graph::Op* op;
    std::uint32_t offset;
  };
  void let_go() noexcept;

  memory::Vector<Unit> units_;
  memory::Vector<Kept> kept_;  // attributes that own something, counted ops
};

}  // namespace neap::compiler
