// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Differences: what does not fit between a file and what it is to become, as
// one line that names the first few. Of this room alone.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "neap/base/result.hpp"
#include "neap/base/shown.hpp"

namespace neap::train {

class Differences {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    if (++count_ <= kNamed) {
      text_ += count_ == 1 ? "" : "; ";
      text_ += base::shown(fmt::format(format, std::forward<Args>(args)...),
                           kLongest);
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
  static constexpr std::size_t kLongest = 300;  // characters of each

  std::string text_;
  int count_ = 0;
};

}  // namespace neap::train
