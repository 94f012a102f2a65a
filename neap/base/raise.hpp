// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How sources (never headers) throw: formats into the stack, then throws E.
//
//   raise<ShapeError>("softmax: axis {} out of range for rank {}", axis, rank);
#pragma once

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "neap/base/error.hpp"

namespace neap::base {

template <class E, class... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  std::array<char, Error::kCapacity> text;
  const auto end = fmt::format_to_n(text.data(), text.size() - 1, format,
                                    std::forward<Args>(args)...);
  throw E(std::string_view(text.data(),
                           static_cast<std::size_t>(end.out - text.data())));
}

}  // namespace neap::base
