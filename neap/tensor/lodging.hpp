// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Lodging: how a body may outlast what the rest of its block was for. A body
// lies in a block of an array or a storage. When it means that array no longer
// (a scope gave it back, or it was bound to another), it holds no reference any
// more, so that elements go with those who still use them, but the block stays
// until both the owner and the lodger have left: the second ends it.
#pragma once

#include <atomic>
#include <cstdint>

namespace neap::tensor {

class Lodging {
 public:
  enum class Owner : std::uint8_t { kStorage, kArray };

  Lodging(const Lodging&) = delete;
  Lodging& operator=(const Lodging&) = delete;

  Owner owner() const noexcept { return owner_; }
  /// REQUIRES: the caller holds a reference to the owner.
  void enter() noexcept {
    state_.store(State::kLodged, std::memory_order_relaxed);
  }
  /// True when the owner, which nobody refers to any more, is to end the block.
  bool owner_leaves() noexcept {
    return state_.load(std::memory_order_acquire) == State::kFree ||
           state_.exchange(State::kOwnerLeft, std::memory_order_acq_rel) ==
               State::kFree;
  }
  /// True when the lodger is to end the block.
  bool lodger_leaves() noexcept {
    return state_.exchange(State::kFree, std::memory_order_acq_rel) ==
           State::kOwnerLeft;
  }

 protected:
  explicit Lodging(Owner owner) noexcept : owner_(owner) {}
  ~Lodging() = default;

 private:
  enum class State : std::uint8_t { kFree, kLodged, kOwnerLeft };

  std::atomic<State> state_{State::kFree};
  Owner owner_;
};

}  // namespace neap::tensor
