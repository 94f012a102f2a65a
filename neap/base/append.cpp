// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/append.hpp"

#include <fmt/format.h>

namespace neap::base {

std::size_t vformat_into(std::span<char> room, fmt::string_view format,
                         fmt::format_args args) {
  return fmt::vformat_to_n(room.data(), room.size(), format, args).size;
}

}  // namespace neap::base
