// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Backend: the interface through which a domain allocates in one memory space.
// A backend knows no owners; it knows what it took from the system and what is
// idle. Not thread-safe: the domain calls it under its own lock.
#pragma once

#include "neap/base/bytes.hpp"

namespace neap::memory {

class Backend {
 public:
  virtual ~Backend() = default;

  /// Bytes that allocate(size, alignment) would newly take from the system
  /// right now; 0 when idle memory serves it. The domain checks its budget
  /// against this before it calls allocate.
  virtual Bytes growth_for(Bytes size, Bytes alignment) const noexcept = 0;

  /// A block of at least `size` > 0 bytes, or nullptr when the system refuses.
  /// `alignment` is a power of two, at most 4096.
  virtual void* allocate(Bytes size, Bytes alignment) noexcept = 0;

  /// Allocates, and counts so, a block that nobody will touch: an address, with
  /// or without memory behind it. Freed by release.
  virtual void* reserve(Bytes size, Bytes alignment) noexcept {
    return allocate(size, alignment);
  }

  /// Frees a block of allocate(size, alignment). Cannot fail.
  virtual void release(void* block, Bytes size, Bytes alignment) noexcept = 0;

  /// Returns idle pages to the system; the result is how many bytes `held`
  /// fell.
  virtual Bytes trim() noexcept = 0;

  /// All bytes reserved from the system: live + rounding + idle + the backend's
  /// own bookkeeping.
  virtual Bytes held() const noexcept = 0;

  /// Part of held that no block uses and that waits for reuse.
  virtual Bytes idle() const noexcept = 0;

  /// Calls made to the system, ever; 0 where a backend does not count them.
  virtual std::int64_t system_calls() const noexcept { return 0; }

  /// Walks its own bookkeeping and says whether it is consistent; for tests.
  virtual bool is_consistent() const noexcept { return true; }
};

}  // namespace neap::memory
