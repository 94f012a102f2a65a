// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ref<T>: an owning pointer to an object that counts its own references.
// T provides acquire() and release(); release() of the last one destroys it.
#pragma once

#include <cstddef>
#include <utility>

namespace neap::base {

template <class T>
class Ref {
 public:
  Ref() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): like a plain pointer
  Ref(std::nullptr_t) noexcept {}
  /// Takes one reference that the caller already holds.
  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  /// Takes a new reference.
  static Ref share(T* object) noexcept {
    if (object != nullptr) {
      object->acquire();
    }
    return adopt(object);
  }
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) {
      object_->acquire();
    }
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) {
      object_->release();
    }
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  /// Gives up ownership without releasing.
  T* leak() noexcept { return std::exchange(object_, nullptr); }
  friend bool operator==(const Ref& a, const Ref& b) noexcept {
    return a.object_ == b.object_;
  }

 private:
  T* object_ = nullptr;
};

}  // namespace neap::base
