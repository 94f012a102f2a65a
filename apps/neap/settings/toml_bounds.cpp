// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "toml_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"

namespace neap::app {
namespace {

// Goes over a text as the parser would: up to the parser's first error, both
// see the same strings and comments, and it ends there.
class Walk {
 public:
  explicit Walk(std::string_view text) noexcept : rest_(text) {}

  /// False where something nests too deep, at line().
  bool is_within() noexcept {
    while (!rest_.empty()) {
      if (!step()) {
        return false;
      }
    }
    return true;
  }
  std::int64_t line() const noexcept { return line_; }

 private:
  bool step() noexcept {
    switch (rest_.front()) {
      case '"':
      case '\'':
        skip_string(rest_.front());
        return true;
      case '#':
        skip(std::min(rest_.find('\n'), rest_.size()));
        return true;
      case '[':
      case '{':
        ++brackets_;
        dots_ = 0;
        break;
      case ']':
      case '}':
        brackets_ = std::max(brackets_ - 1, 0);
        break;
      case '.':
        ++dots_;
        break;
      case '\n':
      case ',':
      case '=':
        dots_ = 0;
        break;
      default:
        break;
    }
    skip(1);
    return brackets_ <= kDeepestToml && dots_ <= kDeepestToml;
  }

  // A string of a single line ends with its line in any case. A string of
  // several may end in four or five quotes, of which the first one or two are
  // content.
  void skip_string(char quote) noexcept {
    const char all[] = {quote, quote, quote};
    const std::string_view thrice(all, sizeof(all));
    const bool is_long = rest_.starts_with(thrice);
    const std::string_view end = is_long ? thrice : thrice.substr(0, 1);
    skip(end.size());
    while (!rest_.empty() && !rest_.starts_with(end) &&
           (is_long || rest_.front() != '\n')) {
      const bool is_escape = quote == '"' && rest_.front() == '\\';
      skip(is_escape ? 2 : 1);
    }
    skip(rest_.starts_with(end) ? end.size() : 0);
    for (int more = 0; is_long && more < 2 && rest_.starts_with(quote);
         ++more) {
      skip(1);
    }
  }

  void skip(std::size_t count) noexcept {
    count = std::min(count, rest_.size());
    line_ +=
        std::count(rest_.begin(),
                   rest_.begin() + static_cast<std::ptrdiff_t>(count), '\n');
    rest_.remove_prefix(count);
  }

  std::string_view rest_;
  std::int64_t line_ = 1;
  int brackets_ = 0;
  int dots_ = 0;  // of the key, or number, at hand
};

}  // namespace

Result<void> check_toml_bounds(std::string_view text, const std::string& file) {
  if (text.size() > static_cast<std::size_t>(kLargestToml)) {
    return failure(
        FailureKind::kTooLarge,
        fmt::format("{}: larger than {}, not a settings file",
                    base::shown_path(file), format_bytes(kLargestToml)));
  }
  Walk walk(text);
  if (!walk.is_within()) {
    return failure(
        FailureKind::kTooLarge,
        fmt::format("{}:{}: brackets or dotted keys nest deeper "
                    "than {}; settings do not nest",
                    base::shown_path(file), walk.line(), kDeepestToml));
  }
  return {};
}

}  // namespace neap::app
