// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PairTable: a value for pairs of numbers, by open addressing. Of this room
// alone.
#pragma once

#include <cstdint>

#include "neap/memory/containers.hpp"

namespace neap::text {

/// A pair as one number, in the pairs' order.
constexpr std::uint64_t pair_key(std::uint32_t first,
                                 std::uint32_t second) noexcept {
  return std::uint64_t{first} << 32U | second;
}

/// REQUIRES: no key is the largest one, which marks what is free.
template <class Value>
class PairTable {
 public:
  std::size_t size() const noexcept { return count_; }

  /// nullptr where there is none. LIFETIME: until the next at().
  const Value* find(std::uint64_t key) const noexcept {
    if (slots_.empty()) {
      return nullptr;
    }
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }

  /// The value of a key, made where there is none. THROWS: OutOfMemory.
  Value& at(std::uint64_t key) {
    if (2 * (count_ + 1) > slots_.size()) {
      grow();
    }
    Slot& slot = slots_[slot_of(key)];
    if (slot.key == kFree) {
      slot.key = key;
      ++count_;
    }
    return slot.value;
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  static constexpr std::size_t kLeastSlots = 16;
  struct Slot {
    std::uint64_t key = kFree;
    Value value{};
  };

  std::size_t slot_of(std::uint64_t key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t mixed = (key ^ key >> 29U) * 0x9E3779B97F4A7C15;
    std::size_t slot = static_cast<std::size_t>(mixed >> 24U) & mask;
    while (slots_[slot].key != kFree && slots_[slot].key != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
  void grow() {
    const std::size_t wider = slots_.empty() ? kLeastSlots : 2 * slots_.size();
    memory::Vector<Slot> old(wider, Slot{}, slots_.get_allocator());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != kFree) {
        slots_[slot_of(slot.key)] = slot;
      }
    }
  }

  memory::Vector<Slot> slots_;  // a power of two of them, or none
  std::size_t count_ = 0;
};

}  // namespace neap::text
