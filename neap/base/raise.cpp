// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/raise.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neap::base {

Message::Message(fmt::string_view format, fmt::format_args args)
    : text_{},
      size_(std::min(
          fmt::vformat_to_n(text_.data(), text_.size() - 1, format, args).size,
          text_.size() - 1)) {}

}  // namespace neap::base
