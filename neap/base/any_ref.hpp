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
      : object_(ref.leak()), count_([](void* object, bool is_more) noexcept {
          auto* counted = static_cast<T*>(object);
          is_more ? counted->acquire() : counted->release();
        }) {}
  AnyRef(const AnyRef& other) noexcept
      : object_(other.object_), count_(other.count_) {
    if (object_ != nullptr) {
      count_(object_, true);
    }
  }
  AnyRef(AnyRef&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), count_(other.count_) {}
  AnyRef& operator=(AnyRef other) noexcept {
    std::swap(object_, other.object_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~AnyRef() {
    if (object_ != nullptr) {
      count_(object_, false);
    }
  }

 private:
  void* object_ = nullptr;
  void (*count_)(void*, bool is_more) noexcept = nullptr;
};

}  // namespace neap::base
