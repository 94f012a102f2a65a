// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <utility>

namespace neap::base {

/// An object in static storage that is never destroyed: threads may use it, and
/// so may what is called at exit, until the process is gone.
///
///   static Immortal<SystemDoor> door;
///   return *door;
template <class T>
class Immortal {
 public:
  template <class... Args>
  explicit Immortal(Args&&... args) {
    object_ = ::new (storage_.data()) T(std::forward<Args>(args)...);
  }
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;

  T& operator*() const noexcept { return *object_; }

 private:
  alignas(T) std::array<std::byte, sizeof(T)> storage_{};
  T* object_ = nullptr;
};

}  // namespace neap::base
