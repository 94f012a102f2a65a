// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// JsonText: JSON written front to back, as long as it may become, in memory
// of the domain.
//
//   json.begin_object();
//   json.key("calls").number(3);
//   json.key("names").begin_array(); ... json.end_array();
//   json.end_object();
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

#include "neap/memory/containers.hpp"

namespace neap::compiler {

/// REQUIRES: calls that make sense together. Not checked.
class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_array() { return open('['); }
  JsonText& end_array() { return close(']'); }
  /// The name of the next value.
  JsonText& key(std::string_view name);
  JsonText& text(std::string_view value);
  JsonText& number(std::int64_t value);
  JsonText& number(double value);  // null unless finite
  JsonText& boolean(bool value);
  JsonText& null();

  memory::String take() { return std::move(out_); }

 private:
  JsonText& open(char bracket);
  JsonText& close(char bracket);
  void separate();

  memory::String out_;
  bool is_first_ = true;  // in its bracket, or after its key
};

}  // namespace neap::compiler
