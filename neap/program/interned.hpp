// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Interned: a handle of a value that a pool keeps once, however often it is
// named. A program names a few layouts in very many operands; an operand then
// has the size of a number and a pointer. A program and its copies share one
// pool, which goes with the last of them: what it keeps is bounded by what they
// ever had. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neap/memory/containers.hpp"
#include "neap/tensor/layout.hpp"

namespace neap::compiler {

/// Reads like a reference to a constant. LIFETIME: the pool's that made it; a
/// default one means a value by default.
template <class T>
class alignas(4) Interned {
 public:
  Interned() noexcept : at_(&by_default()) {}

  const T& operator*() const noexcept { return *at_; }
  const T* operator->() const noexcept { return at_; }
  operator const T&() const noexcept { return *at_; }  // NOLINT: a reference

  friend bool operator==(const Interned& a, const Interned& b) noexcept {
    return a.at_ == b.at_ || *a == *b;
  }
  friend bool operator==(const Interned& a, const T& b) noexcept {
    return *a == b;
  }

 private:
  template <class>
  friend class InternPool;
  explicit Interned(const T* at) noexcept : at_(at) {}
  static const T& by_default() noexcept {
    static const T value{};
    return value;
  }

  // Packed, so that an operand has 12 bytes.
  [[gnu::packed]] const T* at_;
};

/// Equal values get handles of one. Values keep their place until the pool
/// goes, in blocks that double in size; a table with open addressing finds
/// them.
template <class T>
class InternPool {
 public:
  InternPool() = default;
  InternPool(const InternPool&) = delete;
  InternPool& operator=(const InternPool&) = delete;

  /// O(1). THROWS: OutOfMemory, and nothing has changed.
  Interned<T> keep(const T& value);
  /// Different values that it keeps.
  std::size_t size() const noexcept { return size_; }
  Bytes bytes() const noexcept;

 private:
  std::size_t place_of(const T& value) const noexcept;
  void grow();

  memory::Vector<memory::Vector<T>> blocks_;
  memory::Vector<const T*> table_;  // nullptr: free; at most half is taken
  std::size_t size_ = 0;
};

extern template class NEAP_API InternPool<tensor::Layout>;
extern template class NEAP_API InternPool<tensor::Spec>;

/// The pools of a program and its copies.
struct Pools {
  InternPool<tensor::Layout> layouts;
  InternPool<tensor::Spec> specs;
  Bytes bytes() const noexcept {
    return layouts.bytes() + specs.bytes() + static_cast<Bytes>(sizeof(*this));
  }
};

}  // namespace neap::compiler
