// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <optional>

#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "nearest.hpp"
#include "settings.hpp"
#include "toml_bounds.hpp"

namespace neap::app {
namespace {

// A list of whole numbers, joined by commas; nothing for any other list.
std::optional<std::string> text_of_list(const toml::array& list) {
  std::string joined;
  for (const toml::node& item : list) {
    const auto* number = item.as_integer();
    if (number == nullptr) {
      return std::nullopt;
    }
    joined += fmt::format("{}{}", joined.empty() ? "" : ",", number->get());
  }
  return joined;
}

// A value as the text that the command line would have; nothing where no
// setting takes such a value.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* number = node.as_integer()) {
    return fmt::format("{}", number->get());
  }
  if (const auto* number = node.as_floating_point()) {
    return fmt::format("{}", number->get());
  }
  const auto* list = node.as_array();
  return list != nullptr ? text_of_list(*list) : std::nullopt;
}

std::optional<std::string> text_of_flag(const toml::node& node) {
  const auto* flag = node.as_boolean();
  return flag != nullptr ? std::optional(flag->get() ? "true" : "false")
                         : std::nullopt;
}

Result<std::string> read_text(files::Door& door, const std::string& path) {
  auto file = door.open_read(path);
  if (!file) {
    return tl::unexpected(file.error());
  }
  std::string text(kLargestToml + 1, '\0');  // a byte more: to be refused
  std::size_t filled = 0;
  for (;;) {
    const auto got =
        file->read(std::as_writable_bytes(std::span(text).subspan(filled)));
    if (!got) {
      return tl::unexpected(got.error());
    }
    filled += static_cast<std::size_t>(*got);
    if (*got == 0 || filled == text.size()) {
      text.resize(filled);
      return text;
    }
  }
}

// nullptr: there is none.
const Setting* find_setting(std::string_view key) {
  const auto settings = train_settings();
  const auto found =
      std::find_if(settings.begin(), settings.end(),
                   [&](const Setting& s) { return s.key == key; });
  return found != settings.end() ? &*found : nullptr;
}

std::vector<std::string> keys() {
  std::vector<std::string> keys;
  for (const Setting& setting : train_settings()) {
    keys.push_back(setting.key);
  }
  return keys;
}

Result<Texts> texts_of(const toml::table& table, const std::string& path) {
  Texts texts;
  for (const auto& [key, node] : table) {
    const auto line = node.source().begin.line;
    const Setting* setting = find_setting(key.str());
    if (setting == nullptr) {
      return failure(
          FailureKind::kCorrupt,
          fmt::format("{}:{}: unknown key '{}'{}; neap train --help "
                      "lists the keys",
                      base::shown_path(path), line, base::shown(key.str()),
                      did_you_mean(key.str(), keys())));
    }
    auto text = setting->is_flag() ? text_of_flag(node) : text_of(node);
    if (!text) {
      return failure(
          FailureKind::kCorrupt,
          fmt::format("{}:{}: '{}' takes {}", base::shown_path(path), line,
                      base::shown(key.str()),
                      setting->is_flag()
                          ? "true or false"
                          : "a text, a number or a list of whole numbers"));
    }
    texts.emplace(key.str(), std::move(*text));
  }
  return texts;
}

// Refuses a table with more than [train].
Result<Texts> refuse_others(const toml::table& whole, const std::string& path) {
  const auto other = std::find_if(
      whole.begin(), whole.end(),
      [](const auto& entry) { return entry.first.str() != "train"; });
  return failure(
      FailureKind::kCorrupt,
      fmt::format("{}:{}: '{}' is outside of [train]", base::shown_path(path),
                  other->second.source().begin.line,
                  base::shown(other->first.str())));
}

}  // namespace

Result<Texts> read_toml(files::Door& door, const std::string& path) {
  return read_text(door, path).and_then([&](const std::string& text) {
    return parse_toml(text, path);
  });
}

Result<Texts> parse_toml(std::string_view text, const std::string& path) {
  if (auto good = check_toml_bounds(text, path); !good) {
    return tl::unexpected(good.error());
  }
  try {
    const toml::table whole = toml::parse(text, path);
    const toml::node* train = whole.get("train");
    if (train == nullptr || !train->is_table()) {
      return texts_of(whole, path);
    }
    return whole.size() > 1 ? refuse_others(whole, path)
                            : texts_of(*train->as_table(), path);
  } catch (const toml::parse_error& error) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}:{}: {}", base::shown_path(path),
                               error.source().begin.line,
                               base::shown_message(error.description())));
  }
}

}  // namespace neap::app
