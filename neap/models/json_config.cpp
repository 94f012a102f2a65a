// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/json_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/formats/json_cursor.hpp"

namespace neap::models {
namespace {

using formats::JsonCursor;

constexpr std::size_t kMostMembers = 4096;  // each is looked for among all

memory::String empty_text() {
  return memory::String(memory::Allocator<char>(memory::Category::kData));
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t\n\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

// Values that ask for nothing.
bool is_nothing(std::string_view raw) noexcept {
  constexpr std::string_view kNothing[] = {"null", "false", "0", "0.0",
                                           "\"\"", "[]",    "{}"};
  return std::ranges::find(kNothing, raw) != std::end(kNothing);
}

}  // namespace

void Complaints::add(std::string_view text) {
  constexpr int kMost = 12;
  constexpr std::size_t kLongest = 300;
  if (++count_ <= kMost) {
    text_ += (count_ == 1 ? "" : "; ") + base::shown(text, kLongest);
  } else if (count_ == kMost + 1) {
    text_ += "; and more";
  }
}

Result<JsonConfig> JsonConfig::parse(std::string_view json,
                                     std::string_view path) {
  JsonConfig config;
  JsonCursor cursor(json);
  const auto bad = [&](std::string_view fact) {
    return failure(
        FailureKind::kCorrupt,
        fmt::format("{}: {} at byte {}; fetch the file again",
                    base::shown_path(path), fact, cursor.position()));
  };
  bool is_good = cursor.expect('{');
  if (is_good && !cursor.accept('}')) {
    do {
      memory::String key = empty_text();
      is_good = cursor.string(key) && cursor.expect(':');
      const std::size_t before = cursor.position();
      is_good = is_good && cursor.skip();
      if (!is_good) {
        break;
      }
      if (config.members_.size() == kMostMembers) {
        return bad(fmt::format("more than {} members", kMostMembers));
      }
      if (config.find(key) != nullptr) {
        return bad(fmt::format("\"{}\" twice", base::shown(key)));
      }
      config.members_.push_back(
          {std::move(key),
           trimmed(json.substr(before, cursor.position() - before))});
    } while (cursor.accept(','));
    is_good = is_good && cursor.expect('}');
  }
  if (!is_good || !cursor.finish()) {
    return bad(cursor.fault());
  }
  return config;
}

const JsonConfig::Member* JsonConfig::find(
    std::string_view key) const noexcept {
  const auto found = std::ranges::find_if(
      members_, [&](const Member& m) { return m.key == key; });
  return found == members_.end() ? nullptr : &*found;
}

bool JsonConfig::has(std::string_view key) const noexcept {
  const Member* member = find(key);
  return member != nullptr && member->raw != "null";
}

bool JsonConfig::is_null(std::string_view key) const noexcept {
  const Member* member = find(key);
  return member != nullptr && member->raw == "null";
}

// Empty where there is none, or null.
std::string_view JsonConfig::use(std::string_view key) noexcept {
  const auto found = std::ranges::find_if(
      members_, [&](const Member& m) { return m.key == key; });
  if (found == members_.end()) {
    return {};
  }
  found->is_used = true;
  return found->raw == "null" ? std::string_view() : found->raw;
}

void JsonConfig::refuse(std::string_view key, std::string_view raw,
                        std::string_view expected) {
  complain(fmt::format("{}{} is {}, expected {}", within_, key,
                       base::shown(raw, 40), expected));
}

std::int64_t JsonConfig::number(std::string_view key, std::int64_t fallback,
                                std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;  // products fit
  const std::string_view raw = use(key);
  if (raw.empty()) {
    return fallback;
  }
  JsonCursor cursor(raw);
  std::int64_t value = 0;
  if (!cursor.number(value) || !cursor.finish() || value < least ||
      value > kMost) {
    refuse(key, raw, fmt::format("a whole number from {} to 2^24", least));
    return fallback;
  }
  return value;
}

namespace {

// False for what is no finite number.
bool read_real(std::string_view raw, double& value) noexcept {
  const char* const end = raw.data() + raw.size();
  const auto [stop, error] = std::from_chars(raw.data(), end, value);
  return stop == end && error == std::errc() && std::isfinite(value);
}

}  // namespace

double JsonConfig::real(std::string_view key, double fallback) {
  const std::string_view raw = use(key);
  if (raw.empty()) {
    return fallback;
  }
  double value = 0.0;
  if (!read_real(raw, value)) {
    refuse(key, raw, "a number");
    return fallback;
  }
  return value;
}

void JsonConfig::reals(std::string_view key,
                       base::FunctionRef<void(double)> each) {
  const std::string_view raw = use(key);
  std::string_view rest = raw;
  if (rest.starts_with('[')) {  // it is JSON: a bracket at its end, too
    rest = trimmed(rest.substr(1, rest.size() - 2));
  }
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    double value = 0.0;
    if (!read_real(trimmed(rest.substr(0, comma)), value)) {
      refuse(key, raw, "a number, or a list of them");
      return;
    }
    each(value);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

bool JsonConfig::boolean(std::string_view key, bool fallback) {
  const std::string_view raw = use(key);
  if (!raw.empty() && raw != "true" && raw != "false") {
    refuse(key, raw, "true or false");
  }
  return raw == "true" || (raw != "false" && fallback);
}

std::string JsonConfig::text(std::string_view key, std::string_view fallback) {
  const std::string_view raw = use(key);
  memory::String value = empty_text();
  JsonCursor cursor(raw);
  if (!raw.empty() && (!cursor.string(value) || !cursor.finish())) {
    refuse(key, raw, "a text");
  }
  return value.empty() ? std::string(fallback) : std::string(value);
}

JsonConfig JsonConfig::object(std::string_view key) {
  const std::string_view raw = use(key);
  JsonConfig within;
  if (!raw.empty()) {
    auto parsed = parse(raw, key);
    if (parsed) {
      within = std::move(*parsed);
    } else {
      refuse(key, raw, "an object");
    }
  }
  within.within_ = fmt::format("{}{}.", within_, key);
  return within;
}

void JsonConfig::strings(std::string_view key,
                         base::FunctionRef<void(std::string_view)> each) {
  const std::string_view raw = use(key);
  if (raw.empty()) {
    return;
  }
  JsonCursor cursor(raw);
  memory::String value = empty_text();
  bool is_good = cursor.expect('[');
  if (is_good && !cursor.accept(']')) {
    do {
      is_good = cursor.string(value);
      if (is_good) {
        each(value);
      }
    } while (is_good && cursor.accept(','));
    is_good = is_good && cursor.expect(']');
  }
  if (!is_good || !cursor.finish()) {
    refuse(key, raw, "a list of texts");
  }
}

void JsonConfig::numbers(std::string_view key,
                         base::FunctionRef<void(std::int64_t)> each) {
  const std::string_view raw = use(key);
  if (raw.empty()) {
    return;
  }
  JsonCursor cursor(raw);
  const bool is_list = cursor.accept('[');
  bool is_good = true;
  if (!is_list || !cursor.accept(']')) {
    do {
      std::int64_t value = 0;
      is_good = cursor.number(value) && value >= 0;
      if (is_good) {
        each(value);
      }
    } while (is_good && is_list && cursor.accept(','));
    is_good = is_good && (!is_list || cursor.expect(']'));
  }
  if (!is_good || !cursor.finish()) {
    refuse(key, raw, "a whole number, or a list of them");
  }
}

bool JsonConfig::is_text(std::string_view key) const noexcept {
  const Member* member = find(key);
  return member != nullptr && member->raw.starts_with('"');
}

bool JsonConfig::is_object(std::string_view key) const noexcept {
  const Member* member = find(key);
  return member != nullptr && member->raw.starts_with('{');
}

void JsonConfig::pass(std::string_view key) {
  use(key);
}

void JsonConfig::complain_of_rest() {
  for (const Member& member : members_) {
    if (!member.is_used && !is_nothing(member.raw)) {
      complain(fmt::format("{}{} is not known here", within_,
                           base::shown(member.key)));
    }
  }
}

Failure cannot_be_done(const std::string& path, std::string_view what) {
  return {FailureKind::kUnsupported, fmt::format("{}: cannot be done here: {}",
                                                 base::shown_path(path), what)};
}

Result<void> JsonConfig::finish(const std::string& path) {
  complain_of_rest();
  return said(path);
}

Result<void> JsonConfig::said(const std::string& path) const {
  if (complaints_.empty()) {
    return {};
  }
  return tl::unexpected(cannot_be_done(path, complaints_.text()));
}

void JsonConfig::take_complaints(const JsonConfig& within) {
  if (!within.complaints_.empty()) {
    complain(within.complaints_.text());
  }
}

}  // namespace neap::models
