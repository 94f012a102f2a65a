// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The two ways a domain asks the host for bytes: PooledBackend keeps pages for
// reuse; SystemBackend makes every block a malloc of its own, so that
// AddressSanitizer, LeakSanitizer and valgrind see each one.
// Not thread-safe: the domain's lock orders calls.
#pragma once

#include <memory>

#include "neap/memory/backend.hpp"
#include "neap/memory/domain.hpp"
#include "neap/memory/slab_heap.hpp"

namespace neap::memory {

class PooledBackend final : public Backend {
 public:
  /// `idle_limit`: idle bytes beyond it go back to the system at release.
  /// `large`: what is behind blocks that have pages of their own.
  explicit PooledBackend(Bytes idle_limit,
                         Backing large = Backing::kMemory) noexcept
      : idle_limit_(idle_limit), pages_(large) {}

  Bytes growth_for(Bytes size, Bytes alignment) const noexcept override;
  void* allocate(Bytes size, Bytes alignment) noexcept override;
  void* reserve(Bytes size, Bytes alignment) noexcept override;
  void release(void* block, Bytes size, Bytes alignment) noexcept override;
  Bytes trim() noexcept override { return pages_.trim() + slab_pages_.trim(); }
  Bytes held() const noexcept override {
    return pages_.held() + slab_pages_.held();
  }
  Bytes idle() const noexcept override {
    return pages_.idle() + slab_pages_.idle();
  }
  std::int64_t system_calls() const noexcept override {
    return pages_.system_calls() + slab_pages_.system_calls();
  }
  bool is_consistent() const noexcept override;

 private:
  void* allocate_large(Bytes size) noexcept;
  void release_large(void* block) noexcept;

  Bytes idle_limit_;
  PageHeap pages_;  // of large blocks
  // Slabs have pages of their own, all of one size and alignment: there small
  // blocks neither find nor leave gaps.
  PageHeap slab_pages_;
  SlabHeap slabs_{slab_pages_};
};

class SystemBackend final : public Backend {
 public:
  Bytes growth_for(Bytes size, Bytes /*alignment*/) const noexcept override {
    return size;
  }
  void* allocate(Bytes size, Bytes alignment) noexcept override;
  void release(void* block, Bytes size, Bytes alignment) noexcept override;
  Bytes trim() noexcept override { return 0; }
  Bytes held() const noexcept override { return live_; }
  Bytes idle() const noexcept override { return 0; }
  std::int64_t system_calls() const noexcept override { return calls_; }

 private:
  Bytes live_ = 0;
  std::int64_t calls_ = 0;
};

/// The one that `host`, the environment and the build ask for. `idle_limit`:
/// kUnlimited stands for a quarter of the machine's memory.
std::unique_ptr<Backend> make_host_backend(HostAllocator host,
                                           Bytes idle_limit);
/// Counts and places as the pooled one does; what reserve() gives has nothing
/// behind it.
std::unique_ptr<Backend> make_rehearsal_backend(Bytes idle_limit);
Bytes idle_limit_of(Bytes limit) noexcept;

}  // namespace neap::memory
