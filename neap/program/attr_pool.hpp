// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// AttrPool: the attributes of a program's calls, one after the other; equal
// ones that no run rewrites are there once. It keeps what they own, and the ops
// that are counted.
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
  // Attributes that calls share.
  struct Shared {
    std::uint32_t offset;
    std::uint32_t size;  // in bytes
  };
  void let_go() noexcept;
  static bool may_share(const graph::Op* op, const graph::Attrs& attrs);
  std::uint32_t share(const graph::Attrs& attrs);
  std::size_t place_of(const void* data, std::uint32_t size) const noexcept;
  std::uint32_t append(const graph::Op* op, const graph::Attrs& attrs);

  memory::Vector<Unit> units_;
  memory::Vector<Kept> kept_;  // attributes that own something, counted ops
  /// Finds shared ones by hash, with open addressing; size 0: free.
  memory::Vector<Shared> shared_;
  std::uint32_t shared_count_ = 0;
};

}  // namespace neap::compiler
