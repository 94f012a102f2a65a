// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Named bytes as JSON, as all reports of the tool have them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "neap/base/bytes.hpp"

namespace neap::app {

/// {name: bytes, ...} in the order of the rows.
inline nlohmann::ordered_json object_of(
    const std::vector<std::pair<std::string, Bytes>>& rows) {
  auto object = nlohmann::ordered_json::object();
  for (const auto& [name, bytes] : rows) {
    object[name] = bytes;
  }
  return object;
}

}  // namespace neap::app
