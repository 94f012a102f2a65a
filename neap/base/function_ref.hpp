// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// FunctionRef<R(Args...)>: a reference to a function, for an argument that is
// only called during the call. It owns nothing and allocates nothing, where a
// std::function copies what it is given, on the heap when that is large.
// LIFETIME: as the function's.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace neap::base {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  // NOLINTBEGIN(google-explicit-constructor, bugprone-forwarding-reference-*)
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<R, F&, Args...>) FunctionRef(F&& function)
  noexcept {
    using Plain = std::remove_reference_t<F>;
    if constexpr (std::is_function_v<Plain>) {
      target_.function = reinterpret_cast<void (*)()>(&function);
      call_ = [](Target target, Args... args) -> R {
        return std::invoke(reinterpret_cast<Plain*>(target.function),
                           std::forward<Args>(args)...);
      };
    } else {
      target_.object =
          const_cast<void*>(static_cast<const void*>(std::addressof(function)));
      call_ = [](Target target, Args... args) -> R {
        return std::invoke(*static_cast<Plain*>(target.object),
                           std::forward<Args>(args)...);
      };
    }
  }
  // NOLINTEND(google-explicit-constructor, bugprone-forwarding-reference-*)

  R operator()(Args... args) const {
    return call_(target_, std::forward<Args>(args)...);
  }

 private:
  union Target {
    void* object;
    void (*function)();
  };
  Target target_{};
  R (*call_)(Target, Args...) = nullptr;
};

}  // namespace neap::base
