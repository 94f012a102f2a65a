// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Interned: a handle of a value that a pool keeps once, however often it is
// named. A program names a few layouts in very many operands; an operand then
// has the size of a number and a pointer. A program and its copies share one
// pool, which goes with the last of them: what it keeps is bounded by what they
// ever had. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "neap/program/pool_bytes.hpp"
#include "neap/tensor/layout.hpp"

namespace neap::compiler {

/// The part of a value that many values of a program have in common: the tensor
/// that a value was created as, and the tag of its memory.
struct ValueSpec : tensor::Spec {
  Bytes size = 0;  // of the storage
  memory::Category category = memory::Category::kActivations;
  memory::OwnerId owner{};
  friend bool operator==(const ValueSpec&, const ValueSpec&) = default;
};

/// A handle that reads like a reference to a constant. LIFETIME: that of its
/// pool; a default one refers to a default value.
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

// FNV-1a over words.
class WordHash {
 public:
  void add(std::int64_t word) noexcept {
    value_ = (value_ ^ static_cast<std::uint64_t>(word)) * 0x100000001b3U;
    value_ ^= value_ >> 29U;
  }
  void add(const Shape& shape) noexcept {
    add(shape.rank());
    for (const std::int64_t extent : shape) {
      add(extent);
    }
  }
  std::size_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// The hash of what a pool keeps.
template <class T>
struct InternHash;
template <>
struct InternHash<tensor::Layout> {
  static std::size_t of(const tensor::Layout& layout) noexcept;
};
template <>
struct InternHash<ValueSpec> {
  static std::size_t of(const ValueSpec& spec) noexcept;
};

/// Equal values get handles of one. Values keep their place until the pool
/// goes, in blocks that double in size; a table with open addressing finds
/// them.
template <class T>
class InternPool {
 public:
  InternPool() = default;
  /// All memory is asked for by this allocator, whatever the context is then.
  explicit InternPool(const memory::Allocator<T>& allocator)
      : blocks_(allocator), table_(allocator) {}
  InternPool(const InternPool&) = delete;
  InternPool& operator=(const InternPool&) = delete;

  /// O(1). THROWS: OutOfMemory, and nothing has changed.
  Interned<T> keep(const T& value);
  /// The number of different values that it keeps.
  std::size_t size() const noexcept { return size_; }
  Bytes bytes() const noexcept;

 private:
  static constexpr std::size_t kFirstBlock = 4;
  static constexpr std::size_t kLargestBlock = 256;
  static constexpr std::size_t kFirstTable = 16;
  std::size_t place_of(const T& value) const noexcept;
  void grow();

  memory::Vector<memory::Vector<T>> blocks_;
  memory::Vector<const T*> table_;  // nullptr: free; at most half is taken
  std::size_t size_ = 0;
};

// The value's own place, or the free one that it would have.
template <class T>
std::size_t InternPool<T>::place_of(const T& value) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t place = InternHash<T>::of(value) & mask;
  while (table_[place] != nullptr && !(*table_[place] == value)) {
    place = (place + 1) & mask;
  }
  return place;
}

template <class T>
void InternPool<T>::grow() {
  memory::Vector<const T*> old(std::max(kFirstTable, table_.size() * 2),
                               nullptr, table_.get_allocator());
  old.swap(table_);
  for (const T* value : old) {
    if (value != nullptr) {
      table_[place_of(*value)] = value;
    }
  }
}

template <class T>
Interned<T> InternPool<T>::keep(const T& value) {
  if (2 * (size_ + 1) > table_.size()) {
    grow();
  }
  const T*& known = table_[place_of(value)];
  if (known == nullptr) {
    if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) {
      memory::Vector<T> block(blocks_.get_allocator());
      block.reserve(blocks_.empty() ? kFirstBlock
                                    : std::min(blocks_.back().capacity() * 2,
                                               kLargestBlock));
      blocks_.push_back(std::move(block));
    }
    known = &blocks_.back().emplace_back(value);
    ++size_;
  }
  return Interned<T>(known);
}

template <class T>
Bytes InternPool<T>::bytes() const noexcept {
  Bytes sum = pool_bytes(blocks_, table_);
  for (const memory::Vector<T>& block : blocks_) {
    sum += pool_bytes(block);
  }
  return sum;
}

extern template class NEAP_API InternPool<tensor::Layout>;
extern template class NEAP_API InternPool<ValueSpec>;

/// The pools of a program and its copies.
struct Pools {
  Pools() = default;
  explicit Pools(const memory::Allocator<Pools>& allocator)
      : layouts(allocator), specs(allocator) {}
  InternPool<tensor::Layout> layouts;
  InternPool<ValueSpec> specs;
  Bytes bytes() const noexcept {
    return layouts.bytes() + specs.bytes() + static_cast<Bytes>(sizeof(*this));
  }
};

}  // namespace neap::compiler
