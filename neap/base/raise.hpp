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

template <class E, class... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  throw E(Message(format, fmt::make_format_args(args...)));
}

}  // namespace neap::base
