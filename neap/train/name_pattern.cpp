// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/name_pattern.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"

namespace neap::train {
namespace {

constexpr std::string_view kOne = "*";
constexpr std::string_view kRest = "**";

// Takes the next component off the front, and its dot; false at the end.
bool take(std::string_view& rest, std::string_view& component) noexcept {
  if (rest.data() == nullptr) {
    return false;
  }
  const std::size_t dot = rest.find('.');
  component = rest.substr(0, dot);
  rest =
      dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  return true;
}

// Calls star(text) for what each star matches, in order; false: no match.
template <class Star>
bool match(std::string_view name, std::string_view pattern, const Star& star) {
  std::string_view want;
  std::string_view have;
  while (take(pattern, want)) {
    if (want == kRest) {
      star(name);
      return name.data() != nullptr;
    }
    if (!take(name, have) || (want != kOne && want != have)) {
      return false;
    }
    if (want == kOne) {
      star(have);
    }
  }
  return name.data() == nullptr;
}

// The stars of a pattern, like "* * **".
std::string stars_of(std::string_view pattern) {
  std::string stars;
  std::string_view component;
  while (take(pattern, component)) {
    if (component == kOne || component == kRest) {
      stars += component;
      stars += ' ';
    }
  }
  return stars;
}

}  // namespace

bool matches(std::string_view name, std::string_view pattern) noexcept {
  return match(name, pattern, [](std::string_view) {});
}

bool matches_any(std::string_view name,
                 std::span<const std::string> patterns) noexcept {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return matches(name, pattern);
  });
}

void check_pattern(std::string_view pattern) {
  std::string_view component;
  std::string_view rest = pattern;
  bool is_good = !pattern.empty();
  while (take(rest, component)) {
    is_good &=
        !component.empty() && (component != kRest || rest.data() == nullptr);
  }
  if (!is_good) {
    base::raise<ValueError>(
        "load: the pattern '{}', expected components between dots, '*' for any "
        "one, and '**' at the end alone",
        pattern);
  }
}

void check(const Rename& rename) {
  check_pattern(rename.from);
  check_pattern(rename.to);
  if (stars_of(rename.from) != stars_of(rename.to)) {
    base::raise<ValueError>(
        "load: '{}' cannot become '{}', which has other stars", rename.from,
        rename.to);
  }
}

memory::String renamed(std::string_view name, const Rename& rename) {
  memory::Vector<std::string_view> stars;
  if (!match(name, rename.from,
             [&](std::string_view star) { stars.push_back(star); })) {
    return memory::String();
  }
  memory::String out;
  std::size_t used = 0;
  std::string_view rest = rename.to;
  std::string_view component;
  while (take(rest, component)) {
    out += out.empty() ? "" : ".";
    out += component == kOne || component == kRest ? stars[used++] : component;
  }
  return out;
}

}  // namespace neap::train
