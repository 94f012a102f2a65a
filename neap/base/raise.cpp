// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/raise.hpp"

#include <algorithm>

#include "neap/base/append.hpp"

namespace neap::base {

Message::Message(fmt::string_view format, fmt::format_args args)
    : text_{},
      size_(std::min(
          vformat_into(std::span(text_).first(text_.size() - 1), format, args),
          text_.size() - 1)) {}

}  // namespace neap::base
