// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Differences: what does not fit between a file and what it is to become, as
// one line that names the first few. Of this room alone.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "neap/base/result.hpp"

namespace neap::train {

class Differences {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    if (++count_ <= kNamed) {
      text_ += count_ == 1 ? "" : "; ";
      text_ += shown(fmt::format(format, std::forward<Args>(args)...));
    }
  }
  bool empty() const noexcept { return count_ == 0; }

  /// "FILE: WHAT: the first; the second; and 3 more".
  Failure failure(std::string_view file, std::string_view what) const {
    std::string message = fmt::format("{}: {}: {}", file, what, text_);
    if (count_ > kNamed) {
      message += fmt::format("; and {} more", count_ - kNamed);
    }
    return {FailureKind::kMismatch, std::move(message)};
  }

 private:
  static constexpr int kNamed = 4;
  static constexpr std::size_t kLongest = 300;  // bytes of each

  // Facts are any text: a vocabulary has a line's end, and may be long.
  static std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text) {
      const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
      if (out.size() >= kLongest && begins) {
        return out + "...";
      }
      const bool is_control = static_cast<unsigned char>(c) < 0x20;
      out += is_control ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                        : std::string(1, c);
    }
    return out;
  }
  std::string text_;
  int count_ = 0;
};

}  // namespace neap::train
