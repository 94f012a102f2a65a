// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/interned.hpp"

#include <algorithm>

#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {
namespace {

constexpr std::size_t kFirstBlock = 4;
constexpr std::size_t kLargestBlock = 256;
constexpr std::size_t kFirstTable = 16;

// FNV-1a over words.
class Hash {
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

std::size_t hash_of(const tensor::Layout& layout) noexcept {
  Hash hash;
  hash.add(static_cast<std::int64_t>(layout.dtype));
  hash.add(layout.shape);
  hash.add(layout.strides);
  hash.add(layout.offset);
  return hash.value();
}

std::size_t hash_of(const tensor::Spec& spec) noexcept {
  Hash hash;
  hash.add(static_cast<std::int64_t>(spec.dtype));
  hash.add(spec.shape);
  hash.add(spec.space.value);
  return hash.value();
}

}  // namespace

// The value's own place, or the free one that it would have.
template <class T>
std::size_t InternPool<T>::place_of(const T& value) const noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t place = hash_of(value) & mask;
  while (table_[place] != nullptr && !(*table_[place] == value)) {
    place = (place + 1) & mask;
  }
  return place;
}

template <class T>
void InternPool<T>::grow() {
  memory::Vector<const T*> old(std::max(kFirstTable, table_.size() * 2),
                               nullptr);
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
      memory::Vector<T> block;
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

template class InternPool<tensor::Layout>;
template class InternPool<tensor::Spec>;

}  // namespace neap::compiler
