// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Arena: one block from a domain, handed out by offset or in order, all reset
// at once. It never grows. Not thread-safe.
#pragma once

#include <span>

#include "neap/memory/context.hpp"

namespace neap::memory {

class NEAP_API Arena {
 public:
  /// THROWS: OutOfMemory.
  Arena(Bytes capacity, const Tag& tag, Domain& domain = memory::domain());
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;

  Bytes capacity() const noexcept { return block_.size; }
  Bytes used() const noexcept { return used_; }

  /// The bytes [offset, offset + size). REQUIRES: inside the capacity.
  std::byte* at(Bytes offset, Bytes size) const;

  /// The next `size` bytes, aligned. THROWS: OutOfMemory when they do not fit;
  /// the arena is then unchanged.
  std::byte* take(Bytes size, Bytes alignment = kAlignment);

  /// A mark for rewind, which frees everything taken after it.
  Bytes position() const noexcept { return used_; }
  void rewind(Bytes position) noexcept;

 private:
  Domain* domain_;
  Block block_;
  Bytes used_ = 0;
};

}  // namespace neap::memory
