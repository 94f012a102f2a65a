// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// AnyRef: a reference to an object of any type, to keep it and nothing else.
#pragma once

#include "neap/base/ref.hpp"

namespace neap::base {

class AnyRef {
 public:
  AnyRef() = default;
  template <class T>
  explicit AnyRef(Ref<T> ref) noexcept
      : object_(ref.leak()), release_([](void* object) noexcept {
          static_cast<T*>(object)->release();
        }) {}
  AnyRef(AnyRef&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        release_(other.release_) {}
  AnyRef& operator=(AnyRef other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~AnyRef() {
    if (object_ != nullptr) {
      release_(object_);
    }
  }

 private:
  void* object_ = nullptr;
  void (*release_)(void*) noexcept = nullptr;
};

}  // namespace neap::base
