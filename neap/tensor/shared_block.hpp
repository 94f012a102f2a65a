// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SharedBlock: how a body may outlast its co-allocated owner. A body lies in
// the block of an array or of a storage. Once it means another array, or none
// (a scope revoked it, or it was rebound), it holds no reference to that owner,
// so that the elements are freed with the last who uses them, but the block
// stays until both owner and body have ended: the second one frees it.
#pragma once

#include <atomic>
#include <cstdint>

namespace neap::tensor {

class SharedBlock {
 public:
  enum class Owner : std::uint8_t { kStorage, kArray };

  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;

  Owner owner() const noexcept { return owner_; }
  /// Makes the body keep the owner alive no longer.
  /// REQUIRES: the caller holds a reference to the owner.
  void share() noexcept {
    state_.store(State::kShared, std::memory_order_relaxed);
  }
  /// True when the owner, which nobody refers to any more, is to free the
  /// block.
  bool owner_ends() noexcept {
    return state_.load(std::memory_order_acquire) == State::kNotShared ||
           state_.exchange(State::kOwnerEnded, std::memory_order_acq_rel) ==
               State::kNotShared;
  }
  /// True when the body is to free the block.
  bool body_ends() noexcept {
    return state_.exchange(State::kNotShared, std::memory_order_acq_rel) ==
           State::kOwnerEnded;
  }

 protected:
  explicit SharedBlock(Owner owner) noexcept : owner_(owner) {}
  ~SharedBlock() = default;

 private:
  enum class State : std::uint8_t { kNotShared, kShared, kOwnerEnded };

  std::atomic<State> state_{State::kNotShared};
  Owner owner_;
};

}  // namespace neap::tensor
