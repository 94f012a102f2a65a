// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Settings that are read are written as TOML and read again.
#include "neap/files/door.hpp"
#include "settings.hpp"
#include "target.hpp"

namespace neap::fuzz {
namespace {

using app::Texts;

bool is_flag(const std::string& key) {
  for (const app::Setting& setting : app::train_settings()) {
    if (setting.key == key) {
      return setting.is_flag();
    }
  }
  return false;
}

std::string toml_of(const Texts& texts) {
  std::string toml;
  for (const auto& [key, text] : texts) {
    toml += key + " = ";
    if (is_flag(key)) {
      toml += text + "\n";
      continue;
    }
    toml += '"';
    for (const char c : text) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        toml += {'\\', c};
      } else if (byte < 0x20 || byte == 0x7F) {
        toml += {'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 0xFU]};
      } else {
        toml += c;
      }
    }
    toml += "\"\n";
  }
  return toml;
}

}  // namespace

void one_input(std::string_view bytes) {
  const auto texts = app::parse_toml(bytes, "in.toml");
  if (!texts) {
    expect(texts.error().message.size() < 2000);
    return;
  }
  const auto again = app::parse_toml(toml_of(*texts), "out.toml");
  const bool is_small = toml_of(*texts).size() < 64'000;
  expect(again.has_value() || !is_small);
  expect(!again || *again == *texts);
  app::TrainSettings settings;
  const auto set = app::apply(app::train_settings(), *texts, "", settings);
  expect(set.has_value() || set.error().message.size() < 2000);
}

}  // namespace neap::fuzz
