// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Counted<T>: base of reference-counted objects in memory of a domain. The
// object remembers its domain, ledger row and size, so that trailing data may
// follow it in the same block. References may be taken and dropped from any
// thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "neap/base/ref.hpp"
#include "neap/memory/context.hpp"

namespace neap::memory {

template <class T>
class Counted {
 public:
  /// A new object with one reference, in a block of sizeof(T) + `trailing`
  /// bytes. THROWS: OutOfMemory.
  template <class... Args>
  static base::Ref<T> create(Domain& domain, const Tag& tag, Bytes trailing,
                             Args&&... args) {
    static_assert(alignof(T) <= kAlignment);
    const Block block = domain.allocate(
        static_cast<Bytes>(sizeof(T)) + trailing, tag, kAlignment);
    T* object = ::new (block.data) T(std::forward<Args>(args)...);
    static_assert(noexcept(T(std::declval<Args>()...)),
                  "a throwing constructor would leak its block");
    auto* counted = static_cast<Counted*>(object);
    counted->domain_ = &domain;
    counted->bucket_ = block.bucket;
    counted->bytes_ = block.size;
    return base::Ref<T>::adopt(object);
  }

  /// A new object with one reference at an address inside another block, whose
  /// owner ensures that the block outlives the object.
  template <class... Args>
  static base::Ref<T> place_at(void* place, Domain& domain, Args&&... args) {
    static_assert(noexcept(T(std::declval<Args>()...)));
    T* object = ::new (place) T(std::forward<Args>(args)...);
    static_cast<Counted*>(object)->domain_ = &domain;
    return base::Ref<T>::adopt(object);
  }

  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  void acquire() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (drop_reference()) {
      destroy(static_cast<T*>(this));
    }
  }
  /// Takes a reference unless the last one was dropped already. For callers who
  /// found the object in a list that it leaves when it ends.
  bool try_acquire() noexcept {
    std::uint32_t count = refs_.load(std::memory_order_relaxed);
    while (count != 0 && !refs_.compare_exchange_weak(
                             count, count + 1, std::memory_order_relaxed)) {
    }
    return count != 0;
  }
  /// True when the caller holds the only reference.
  bool is_unique() const noexcept {
    return refs_.load(std::memory_order_acquire) == 1;
  }
  /// The number of references, for reports; it may change at once.
  std::uint32_t references() const noexcept {
    return refs_.load(std::memory_order_relaxed);
  }
  Domain& domain() const noexcept { return *domain_; }
  /// True for an object of place_at, which has no block of its own.
  bool is_placed() const noexcept { return bytes_ == 0; }

 protected:
  Counted() noexcept = default;
  ~Counted() = default;

  /// Takes one reference away; true when it was the last.
  bool drop_reference() noexcept {
    return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// Destroys the object and frees its block.
  static void destroy(T* object) noexcept {
    auto* counted = static_cast<Counted*>(object);
    Domain& domain = *counted->domain_;
    const Block block{object, counted->bytes_, counted->bucket_};
    object->~T();  // of a placed object, this may free its block
    if (block.size != 0) {
      domain.release(block, kAlignment);
    }
  }

 private:
  std::atomic<std::uint32_t> refs_{1};
  BucketId bucket_{};
  Domain* domain_ = nullptr;
  Bytes bytes_ = 0;
};

}  // namespace neap::memory
