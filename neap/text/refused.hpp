// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Refused: thrown within this room where a tokenizer.json cannot be taken, and
// turned into a Failure where the room is left.
#pragma once

#include <fmt/core.h>

#include "neap/base/error.hpp"
#include "neap/base/raise.hpp"
#include "neap/base/result.hpp"

namespace neap::text {

class Refused : public Error {
 public:
  Refused(FailureKind kind, std::string_view message) noexcept
      : Error(message), kind_(kind) {}
  FailureKind kind() const noexcept { return kind_; }

 private:
  FailureKind kind_;
};

template <class... Args>
[[noreturn]] void refuse(FailureKind kind, fmt::format_string<Args...> format,
                         Args&&... args) {
  throw Refused(kind, base::Message(format, fmt::make_format_args(args...)));
}

}  // namespace neap::text
