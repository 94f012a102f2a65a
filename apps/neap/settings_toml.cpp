// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <optional>

#include "neap/files/door.hpp"
#include "settings.hpp"

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
  constexpr Bytes kLargest = kMiB;  // of a settings file
  auto file = door.open_read(path);
  if (!file) {
    return tl::unexpected(file.error());
  }
  std::string text(kLargest + 1, '\0');
  std::size_t filled = 0;
  for (;;) {
    const auto got =
        file->read(std::as_writable_bytes(std::span(text).subspan(filled)));
    if (!got) {
      return tl::unexpected(got.error());
    }
    filled += static_cast<std::size_t>(*got);
    if (*got == 0) {
      text.resize(filled);
      return text;
    }
    if (filled > kLargest) {
      return failure(FailureKind::kTooLarge,
                     fmt::format("{}: larger than {}, not a settings file",
                                 path, format_bytes(kLargest)));
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

Result<Texts> texts_of(const toml::table& table, const std::string& path) {
  Texts texts;
  for (const auto& [key, node] : table) {
    const auto line = node.source().begin.line;
    const Setting* setting = find_setting(key.str());
    if (setting == nullptr) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("{}:{}: unknown key '{}'; neap train --help "
                                 "lists the keys",
                                 path, line, key.str()));
    }
    auto text = setting->is_flag() ? text_of_flag(node) : text_of(node);
    if (!text) {
      return failure(
          FailureKind::kCorrupt,
          fmt::format("{}:{}: '{}' takes {}", path, line, key.str(),
                      setting->is_flag()
                          ? "true or false"
                          : "a text, a number or a list of whole numbers"));
    }
    texts.emplace(key.str(), std::move(*text));
  }
  return texts;
}

}  // namespace

Result<Texts> read_toml(files::Door& door, const std::string& path) {
  auto text = read_text(door, path);
  if (!text) {
    return tl::unexpected(text.error());
  }
  try {
    const toml::table whole = toml::parse(*text, path);
    const toml::node* train = whole.get("train");
    if (train == nullptr || !train->is_table()) {
      return texts_of(whole, path);
    }
    if (whole.size() > 1) {
      for (const auto& [key, node] : whole) {
        if (key.str() != "train") {
          return failure(
              FailureKind::kCorrupt,
              fmt::format("{}:{}: '{}' stands outside of [train]", path,
                          node.source().begin.line, key.str()));
        }
      }
    }
    return texts_of(*train->as_table(), path);
  } catch (const toml::parse_error& error) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}:{}: {}", path, error.source().begin.line,
                               error.description()));
  }
}

}  // namespace neap::app
