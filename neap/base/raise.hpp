// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How sources (never headers) throw: formats into the stack, then throws E.
//
//   raise<ShapeError>("softmax: axis {} out of range for rank {}", axis, rank);
//
// The formatting itself is one function in raise.cpp, so that a throw costs its
// caller a few instructions and no template code.
#pragma once

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <type_traits>

#include "neap/base/api.hpp"
#include "neap/base/error.hpp"

namespace neap::base {

/// A formatted message, cut to what an Error keeps.
class NEAP_API Message {
 public:
  Message(fmt::string_view format, fmt::format_args args);
  operator std::string_view() const noexcept {  // NOLINT: what it is for
    return {text_.data(), size_};
  }

 private:
  std::array<char, Error::kCapacity> text_;
  std::size_t size_;
};

/// Tells the thread's OutsideListener, so that a step cannot catch a refusal
/// and go on.
NEAP_API void tell_of_refusal(std::string_view message) noexcept;

template <class E, class... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  const Message message(format, fmt::make_format_args(args...));
  if constexpr (std::is_same_v<E, TraceError>) {
    tell_of_refusal(message);
  }
  throw E(message);
}

}  // namespace neap::base
