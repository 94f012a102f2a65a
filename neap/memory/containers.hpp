// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Standard containers and owning pointers whose memory comes from a domain.
// Each remembers the domain and tag that it was created with.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "neap/memory/context.hpp"

namespace neap::memory {

/// Standard allocator over a domain. Default: the current context's domain and
/// owner, Category::kGraph. THROWS: OutOfMemory.
template <class T>
class Allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  Allocator() : Allocator(Category::kGraph) {}
  explicit Allocator(Category category)
      : domain_(&memory::domain()), tag_(current_tag(category)) {}
  Allocator(Domain& domain, const Tag& tag) noexcept
      : domain_(&domain), tag_(tag) {}
  template <class U>
  Allocator(const Allocator<U>& other) noexcept  // NOLINT: as the standard asks
      : domain_(&other.domain()), tag_(other.tag()) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(
        domain_->allocate_raw(bytes(count), tag_, alignment()));
  }
  void deallocate(T* data, std::size_t count) noexcept {
    domain_->release_raw(data, bytes(count), tag_, alignment());
  }

  Domain& domain() const noexcept { return *domain_; }
  const Tag& tag() const noexcept { return tag_; }
  friend bool operator==(const Allocator& a, const Allocator& b) noexcept {
    return a.domain_ == b.domain_ && a.tag_ == b.tag_;
  }

 private:
  static constexpr Bytes alignment() noexcept {
    return static_cast<Bytes>(alignof(T));
  }
  static Bytes bytes(std::size_t count) {
    return base::checked_mul(static_cast<Bytes>(count),
                             static_cast<Bytes>(sizeof(T)));
  }
  Domain* domain_;
  Tag tag_;
};

template <class T>
using Vector = std::vector<T, Allocator<T>>;
using String = std::basic_string<char, std::char_traits<char>, Allocator<char>>;

/// Destroys an object created by make_owned and frees its bytes. `bytes` and
/// the original address are kept, so that Owned<Derived> converts to
/// Owned<Base> even where the base is not first.
class OwnedDeleter {
 public:
  OwnedDeleter() = default;
  OwnedDeleter(Domain& domain, const Tag& tag, void* block, Bytes bytes,
               Bytes alignment) noexcept
      : domain_(&domain),
        tag_(tag),
        block_(block),
        bytes_(bytes),
        alignment_(alignment) {}
  template <class T>
  void operator()(T* object) const noexcept {
    std::destroy_at(object);
    domain_->release_raw(block_, bytes_, tag_, alignment_);
  }

 private:
  Domain* domain_ = nullptr;
  Tag tag_;
  void* block_ = nullptr;
  Bytes bytes_ = 0;
  Bytes alignment_ = 0;
};

/// A std::unique_ptr over a domain; T needs a virtual destructor where it is a
/// base.
template <class T>
using Owned = std::unique_ptr<T, OwnedDeleter>;

template <class T, class... Args>
Owned<T> make_owned(Category category, Args&&... args) {
  Domain& door = domain();
  const Tag tag = current_tag(category);
  constexpr auto kBytes = static_cast<Bytes>(sizeof(T));
  constexpr auto kAlign = static_cast<Bytes>(alignof(T));
  void* block = door.allocate_raw(kBytes, tag, kAlign);
  try {
    T* object = ::new (block) T(std::forward<Args>(args)...);
    return Owned<T>(object, OwnedDeleter(door, tag, block, kBytes, kAlign));
  } catch (...) {
    door.release_raw(block, kBytes, tag, kAlign);
    throw;
  }
}

}  // namespace neap::memory
